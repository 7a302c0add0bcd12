// The process that serves stories on loopback: one page per story file, its modules without their types, and the files
// beside them. It runs no code of the project; only pages do. Started by start-server.ts with a channel for messages.
import { readFileSync, realpathSync, statSync } from "node:fs"
import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import { extname, join, relative } from "node:path"
import { isSecretFile } from "#ability/permission/is-secret-file.ts"
import { type Graph, graphOf, ownModule, sourceOf } from "./module-graph.ts"
import { fileAt, isStory } from "./resolve-import.ts"

/** `token`: requests must send it, so that no other program of this machine reads the project here. */
export type Start = { root: string; token: string }
export type Task = { start: Start } | { graph: string; id: number }
export type Answer = { port: number } | { id: number; graph: Omit<Graph, "imports"> }

/** The page of a story file has the address of the file, so that relative links and `#part` mean what they say. */
const pageQuery = "?page"
const maxBytes = 20_000_000
const script = "text/javascript; charset=utf-8"
const types: Record<string, string> = {
  ".ts": script,
  ".mts": script,
  ".js": script,
  ".mjs": script,
  ".json": "application/json",
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".gif": "image/gif",
  ".webp": "image/webp",
  ".avif": "image/avif",
  ".ico": "image/x-icon",
  ".woff": "font/woff",
  ".woff2": "font/woff2",
  ".ttf": "font/ttf",
  ".wasm": "application/wasm",
  ".txt": "text/plain; charset=utf-8",
}

type Reply = { status: number; type: string; body: string | Buffer }

let root = "/"
process.on("disconnect", () => process.exit())
process.on("message", (task: Task) => {
  if ("start" in task) return serve(task.start)
  const { files, problems } = graphOf(join(root, task.graph), root)
  send({ id: task.id, graph: { files: files.map((file) => relative(root, file)), problems } })
})

function serve(start: Start): void {
  root = start.root
  const server = Http.createServer((request, response) => {
    const isKnown = request.headers["x-vitamin-stories"] === start.token
    const reply = isKnown ? replyTo(request) : refused(403, "the token is missing")
    const headers = { "content-type": reply.type, "cache-control": "no-store" }
    response.writeHead(reply.status, headers).end(reply.body)
  })
  server.listen(0, "127.0.0.1", () => send({ port: (server.address() as AddressInfo).port }))
}

function replyTo(request: Http.IncomingMessage): Reply {
  const url = URL.parse(request.url ?? "", "http://127.0.0.1")
  if (!url || request.method !== "GET") return refused(400, "only GET is answered")
  try {
    if (url.search === pageQuery) return pageOf(decodeURIComponent(url.pathname))
    if (url.pathname === ownModule)
      return { status: 200, type: script, body: "export const story = (given) => given" }
    return fileReply(decodeURIComponent(url.pathname))
  } catch (error) {
    return refused(500, error instanceof Error ? error.message : String(error))
  }
}

function pageOf(path: string): Reply {
  if (!isStory.test(path) || !servedFile(path)) return refused(404, `${path} is not served`)
  const file = join(root, path)
  const { imports } = graphOf(file, root)
  const map = JSON.stringify(imports).replaceAll("<", "\\u003c")
  const title = relative(root, file).replace(/[<&]/g, "")
  const body = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title>
<link rel="icon" href="data:,">
<script type="importmap">${map}</script></head><body></body></html>`
  return { status: 200, type: types[".html"]!, body }
}

function fileReply(path: string): Reply {
  const file = servedFile(path)
  const type = file && types[extname(file)]
  if (!type) return refused(404, `${path} is not served`)
  if (type === script) return { status: 200, type, body: sourceOf(file, root).text }
  if (statSync(file).size > maxBytes) return refused(413, `${path} has more than ${maxBytes} bytes`)
  return { status: 200, type, body: readFileSync(realpathSync(file)) }
}

/** The real path of a regular file inside the root that is neither hidden nor secret. */
function servedFile(path: string): string | undefined {
  const file = fileAt(join(root, path))
  const inside = file && relative(root, file)
  if (!inside || inside.startsWith("..")) return undefined
  // A package manager may keep packages in a hidden folder of node_modules.
  const isHidden = inside
    .split("node_modules/")[0]!
    .split("/")
    .some((name) => name.startsWith("."))
  return isHidden || isSecretFile(inside) ? undefined : file
}

function refused(status: number, text: string): Reply {
  return { status, type: types[".txt"]!, body: text }
}

function send(answer: Answer): void {
  process.send?.(answer)
}
