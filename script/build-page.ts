// Builds the page of `vitamin serve` into a folder: scripts and styles with a hash in their names, each also packed with
// gzip, and an index.html that names them.
import { createHash } from "node:crypto"
import { globSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { build } from "tsdown"

const source = "src/edge/web"

export async function buildPage(folder = "dist/web", options: { minify?: boolean } = {}): Promise<void> {
  const { minify = true } = options
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  await build({
    entry: { page: `${source}/main.ts` },
    outDir: folder,
    format: "esm",
    platform: "browser",
    target: "es2024",
    deps: { alwaysBundle: [/./] },
    tsconfig: `${source}/tsconfig.json`,
    plugins: [{ name: "lexer-of-marked", transform: lexerOfMarked }],
    outputOptions: { entryFileNames: "[name]-[hash].js", chunkFileNames: "[name]-[hash].js" },
    fixedExtension: false,
    sourcemap: false,
    minify,
    dts: false,
    clean: false,
    logLevel: "warn",
  })
  const script = readdirSync(folder).find((name) => /^page-.*\.js$/.test(name))!
  const styles = globSync(`${source}/style/*.css`)
    .sort()
    .map((file) => readFileSync(file, "utf8"))
    .join("")
  const css = minify ? packCss(styles) : styles
  const style = `page-${createHash("sha256").update(css).digest("hex").slice(0, 8)}.css`
  writeFileSync(join(folder, style), css)
  writeFileSync(join(folder, "icon.svg"), readFileSync(`${source}/icon.svg`))
  const page = readFileSync(`${source}/index.html`, "utf8")
    .replace("page.js", script)
    .replace("page.css", style)
  writeFileSync(join(folder, "index.html"), page)
  for (const name of readdirSync(folder))
    if (/\.(js|css|html)$/.test(name))
      writeFileSync(join(folder, `${name}.gz`), gzipSync(readFileSync(join(folder, name)), { level: 9 }))
}

/** The style sheets are formatted, so that the places of spaces are known. */
function packCss(text: string): string {
  return text
    .replace(/\/\*.*?\*\//gs, "")
    .replace(/\n\s*/g, "")
    .replace(/([:,]) | (?=\{)|;(?=\})/g, "$1")
}

/** marked keeps its parts together, so that the bundler cannot leave any out. The page uses only the lexer, which stands first. */
function lexerOfMarked(code: string, file: string): string | undefined {
  if (!file.endsWith("/marked.esm.js")) return undefined
  const nameOf = (part: string) => new RegExp(`([\\w$]+) as ${part}\\b`).exec(code)?.[1]
  const end = code.indexOf(`var ${nameOf("Renderer")}=class`)
  if (end < code.indexOf(`var ${nameOf("Lexer")}=class`))
    throw new Error("The parts of marked have another order.")
  return `${code.slice(0, end)}export{${nameOf("Lexer")} as Lexer}`
}
