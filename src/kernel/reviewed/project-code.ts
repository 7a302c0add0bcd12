// Finds the files of a project that a text refers to: modules that code imports by a relative path, and programs that a
// configuration or a command names. Only the text is read; nothing runs.
import { readFileSync } from "node:fs"
import { dirname, extname, resolve } from "node:path"
import { realOf, statOf } from "#util/file/path-info.ts"
import { isInside } from "#util/file/resolve-inside.ts"
import { scriptImports } from "./script-imports.ts"

const moduleEndings = ".js .mjs .cjs .jsx .ts .mts .cts .tsx".split(" ")
const otherEndings =
  ".py .pyw .pyz .rb .pl .php .phar .lua .sh .bash .zsh .fish .nu .ps1 .psm1 .bat .cmd .exe .jar .java .kts .groovy " +
  ".scala .clj .go .rs .swift .dart .cs .csx .fsx .ex .exs .erl .jl .r .R .tcl .awk .rkt .scm .lisp .hs .ml .nim .cr " +
  ".wasm .node .so .dylib .dll"
const code = new Set([...moduleEndings, ...otherEndings.split(" ")])
const modules = /\.[mc]?[jt]sx?$/
/** `from "./x"`, `import "./x"`, `import("./x")`, `require("./x")`, `new URL("./x", …)`. */
const imports = /(?:\bfrom|\bimport|\brequire|\bURL)\s*\(?\s*(["'`])(\.{1,2}\/[^"'`\n]{1,500})\1/g
const maxFiles = 500
const maxBytes = 4 << 20
const maxWords = 2_000
const maxFolders = 20

/** The real paths of a file and of all files that it loads, transitively: modules that JavaScript and TypeScript import by
 * relative paths, and what scripts of shells and of Python load (`script-imports.ts`). */
export function withImports(file: string, root: string, content?: Uint8Array): string[] {
  const found = new Set<string>()
  const visit = (path: string, bytes?: Uint8Array) => {
    if (found.has(path) || found.size >= maxFiles) return
    found.add(path)
    for (const target of loadedBy(path, textOf(path, bytes), root).flat()) {
      const real = realOf(target)
      if (real && isProjectFile(real, root)) visit(real)
    }
  }
  visit(file, content)
  return [...found]
}

/** The paths that a file loads and at which there is nothing: every path that a runtime would try. */
export function missingImports(file: string, root: string): string[] {
  return loadedBy(file, textOf(file), root).flatMap((targets) =>
    targets.some((one) => statOf(one)?.isFile()) ? [] : targets,
  )
}

/** For each file that a text loads: every path that a runtime would try. */
function loadedBy(path: string, text: string, root: string): string[][] {
  if (!modules.test(path)) return scriptImports(path, text, root)
  return specifiersOf(text).map((specifier) => importedAs(resolve(dirname(path), specifier)))
}

function specifiersOf(text: string): string[] {
  return [...text.matchAll(imports)].map(([, , specifier]) => specifier!.replace(/[?#].*/, ""))
}

/** The programs and scripts of a project that a command names, in its words or in its variables (NODE_OPTIONS,
 * BASH_ENV). Relative paths start at `cwd`. The first argument may be a script without an extension. */
export function namedByCommand(
  { command = [], env = {} }: { command?: readonly string[]; env?: Readonly<Record<string, string>> },
  cwd: string,
  root: string,
): string[] {
  const [program = "", ...rest] = command
  const first = rest.find((word) => !word.startsWith("-"))
  const script = realOf(resolve(cwd, first ?? ""))
  const isScript = script && extname(script) === "" && isProjectFile(script, root)
  const texts = [...(program.includes("/") ? [program] : []), ...rest, ...Object.values(env)]
  const { files } = namedByText(texts.join("\n"), [cwd], root)
  return [...files, ...(isScript ? [script] : [])]
}

/** The same for a text that may contain commands, such as a configuration. A folder that the text names may be where a
 * command starts. */
export function namedByText(
  text: string,
  starts: string[],
  root: string,
): { files: string[]; folders: string[] } {
  const words = [...new Set(wordsOf(text))].slice(0, maxWords)
  const folders = words
    .flatMap((word) => starts.map((start) => resolve(start, word)))
    .filter((path) => path !== root && isInside(root, path) && statOf(path)?.isDirectory())
    .slice(0, maxFolders)
  return { files: namedIn(words, [...starts, ...folders], root), folders }
}

function namedIn(words: string[], starts: string[], root: string): string[] {
  const found = new Set<string>()
  for (const word of words)
    for (const start of starts)
      for (const path of runAs(resolve(start, word.replace(/^file:\/\//, "")))) {
        const real = realOf(path)
        if (real && isProjectFile(real, root) && isProgram(real)) found.add(real)
      }
  return [...found]
}

/** The files that a runtime may load for a path without an ending: `node server` runs server.js. Which one it takes differs
 * between runtimes, so all of them count. */
function runAs(path: string): string[] {
  return extname(path) === "" ? [path, ...moduleEndings.map((ending) => path + ending)] : [path]
}

/** The same for an import: also the index of a folder, and the TypeScript source of a .js file. */
function importedAs(path: string): string[] {
  const source = path.replace(/\.([mc]?)js(x?)$/, ".$1ts$2")
  const index = runAs(resolve(path, "index"))
  return [...new Set([path, source, ...moduleEndings.map((ending) => path + ending), ...index])]
}

/** Files of packages are not reviewed. */
function isProjectFile(path: string, root: string): boolean {
  if (!isInside(root, path) || path.slice(root.length).split("/").includes("node_modules")) return false
  return statOf(path)?.isFile() ?? false
}

/** Data files do not count: they are not run, and may change all the time. */
function isProgram(path: string): boolean {
  if (code.has(extname(path)) || (statOf(path)?.mode ?? 0) & 0o111) return true
  return extname(path) === "" && textOf(path).startsWith("#!")
}

function wordsOf(text: string): string[] {
  return text.split(/[\s"'`;&|()<>=,[\]{}]+/).filter((word) => word !== "" && word.length < 1_000)
}

function textOf(path: string, bytes?: Uint8Array): string {
  if (bytes) return Buffer.from(bytes).toString()
  try {
    return (statOf(path)?.size ?? 0) > maxBytes ? "" : readFileSync(path, "utf8")
  } catch {
    return ""
  }
}
