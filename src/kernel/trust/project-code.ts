// Which files of a project a text leads to: modules that code imports by a relative path, and programs that a
// configuration or a command names. Found in the text alone; nothing runs.
import { readFileSync } from "node:fs"
import { dirname, extname, resolve } from "node:path"
import { realOf } from "#util/real-of.ts"
import { isInside } from "#util/resolve-inside.ts"
import { statOf } from "#util/stat-of.ts"

const code = new Set(
  ".js .mjs .cjs .jsx .ts .mts .cts .tsx .py .rb .pl .php .lua .sh .bash .zsh .ps1 .jar .wasm".split(" "),
)
const modules = /\.[mc]?[jt]sx?$/
/** `from "./x"`, `import "./x"`, `import("./x")`, `require("./x")`, `new URL("./x", …)`. */
const imports = /(?:\bfrom|\bimport|\brequire|\bURL)\s*\(?\s*(["'`])(\.{1,2}\/[^"'`\n]{1,500})\1/g
const maxFiles = 500
const maxBytes = 4 << 20
const maxWords = 2_000
const maxFolders = 20

/** A file and all that it imports by relative paths, and that in turn, each by its real path. Of other languages only the
 * file itself. */
export function withImports(file: string, root: string, content?: Uint8Array): string[] {
  const found = new Set<string>()
  const visit = (path: string, bytes?: Uint8Array) => {
    if (found.has(path) || found.size >= maxFiles) return
    found.add(path)
    if (!modules.test(path)) return
    for (const [, , specifier] of textOf(path, bytes).matchAll(imports)) {
      const target = realOf(resolve(dirname(path), specifier!.replace(/[?#].*/, "")))
      if (target && isProjectFile(target, root)) visit(target)
    }
  }
  visit(file, content)
  return [...found]
}

/** The programs and scripts of a project that the words of a command name, from the folder that it starts in. What it is
 * given first may be a script under any name. */
export function namedByCommand(words: readonly string[], cwd: string, root: string): string[] {
  const [program = "", ...rest] = words
  const first = rest.find((word) => !word.startsWith("-"))
  const script = realOf(resolve(cwd, first ?? ""))
  const isScript = script && extname(script) === "" && isProjectFile(script, root)
  const pieces = [...(program.includes("/") ? [program] : []), ...rest].flatMap(wordsOf)
  return [...namedIn(pieces, [cwd], root), ...(isScript ? [script] : [])]
}

/** The same of a text that may hold commands: a configuration in any form. Folders that it names may be where they start. */
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
    for (const start of starts) {
      const path = realOf(resolve(start, word))
      if (path && isProjectFile(path, root) && isProgram(path)) found.add(path)
    }
  return [...found]
}

/** What packages bring is covered by no review. */
function isProjectFile(path: string, root: string): boolean {
  if (!isInside(root, path) || path.slice(root.length).split("/").includes("node_modules")) return false
  return statOf(path)?.isFile() ?? false
}

/** Data that a server is given to work on changes all the time and is not run. */
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
