// The files of the page, from `dist/web`. Everybody may read them; they hold no data. Names of scripts and styles contain a
// hash of their content, so browsers may keep them.
import { readdirSync, readFileSync } from "node:fs"
import { extname } from "node:path"
import { fileURLToPath } from "node:url"
import { securityHeaders } from "#edge/server/http/respond.ts"

export type PageFiles = Readonly<{
  has(path: string): boolean
  respond(path: string, header: (name: string) => string | undefined): Response
}>

const types: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
}
/** Nothing runs but our own files; nothing is fetched from elsewhere; nobody may frame the page; and no
 * script can set HTML text (Trusted Types without a policy). */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ")
const pageHeaders = {
  ...securityHeaders,
  "content-security-policy": policy,
  "cross-origin-opener-policy": "same-origin",
  "x-frame-options": "DENY",
  "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
const assets = "/assets/"

/** `folder`: for tests; by default that of the package. */
export function createPageFiles(folder = ownFolder()): PageFiles {
  const names = new Set(listed(folder))
  const contents = new Map<string, Buffer>()

  function nameOf(path: string): string | undefined {
    const name = path === "/" ? "index.html" : path.startsWith(assets) ? path.slice(assets.length) : undefined
    return name !== undefined && names.has(name) && !name.endsWith(".gz") ? name : undefined
  }

  function respond(path: string, header: (name: string) => string | undefined): Response {
    const name = nameOf(path)!
    const isPacked = names.has(`${name}.gz`) && /\bgzip\b/.test(header("accept-encoding") ?? "")
    const isPage = name.endsWith(".html")
    return new Response(read(isPacked ? `${name}.gz` : name) as Uint8Array<ArrayBuffer>, {
      headers: {
        ...(isPage ? pageHeaders : securityHeaders),
        "content-type": types[extname(name)] ?? "application/octet-stream",
        "cache-control": isPage ? "no-cache" : "public, max-age=31536000, immutable",
        vary: "accept-encoding",
        ...(isPacked ? { "content-encoding": "gzip" } : {}),
      },
    })
  }

  function read(name: string): Buffer {
    const content = contents.get(name) ?? readFileSync(`${folder}/${name}`)
    contents.set(name, content)
    return content
  }

  return Object.freeze({ has: (path) => nameOf(path) !== undefined, respond })
}

function listed(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    // A checkout that was not built has no page.
    return []
  }
}

/** In `dist` this code is bundled beside the folder; in a checkout it is run from `src`. */
function ownFolder(): string {
  const here = import.meta.url
  const place = here.includes("/src/edge/") ? "../../../../dist/web" : "./web"
  return fileURLToPath(new URL(place, here))
}
