// Finds the files that a script of a shell or of Python loads: `source lib.sh`, `. "$(dirname "$0")/lib.sh"`, `import lib`. Only
// literal names are found, after a folder that a variable or a substitution may name. Only the text is read; nothing runs.
import { dirname, extname, resolve } from "node:path"

const sourcing = /(?:^|[;&|{(]|\b(?:then|do|else)\b)[ \t]*(?:source|\.)[ \t]+([^\n]*)/gm
const importing = /^[ \t]*import[ \t]+([^\n#;]*)/gm
const importingFrom = /^[ \t]*from[ \t]+(\.*)([\w.]*)[ \t]+import[ \t]*(?:\(([^)]*)\)|([^\n#;]*))/gm
const maxStatements = 500

/** For each statement that loads a file: every path that it may mean. */
export function scriptImports(path: string, text: string, root: string): string[][] {
  const [first = ""] = text.split("\n", 1)
  const ending = extname(path)
  const has = (endings: string, program: RegExp) =>
    endings.split(" ").includes(ending) || (first.startsWith("#!") && program.test(first))
  if (has(".sh .bash .zsh .ksh", /\b(?:ba|da|z|k)?sh\b/)) return sourcedBy(path, text, root)
  return has(".py .pyw", /\bpython[\d.]*\b/) ? importedBy(path, text) : []
}

/** A script may be started in its own folder or in that of the project. */
function sourcedBy(path: string, text: string, root: string): string[][] {
  const lines = [...text.matchAll(sourcing)].slice(0, maxStatements)
  return lines.map(([, line = ""]) => {
    // What is left of `$DIR/lib.sh` or `$(dirname "$0")/lib.sh` begins with a slash.
    const names = line
      .split(/[\s"'`;&|()<>{}]+/)
      .flatMap((word) => [word, word.replace(/^(?:\$\w*)?\/+/, "")])
    const used = names.filter((name) => name !== "" && name.length < 1_000)
    return [...new Set(used.flatMap((name) => [dirname(path), root].map((start) => resolve(start, name))))]
  })
}

function importedBy(path: string, text: string): string[][] {
  const plain = [...text.matchAll(importing)].flatMap(([, list = ""]) => namesIn(list))
  const from = [...text.matchAll(importingFrom)].map(([, dots = "", module = "", some = "", rest = ""]) => {
    const start = resolve(dirname(path), ...Array<string>(Math.max(0, dots.length - 1)).fill(".."))
    const base = resolve(start, ...module.split("."))
    return [base, ...namesIn(some || rest).map((name) => resolve(base, name))]
  })
  const bases = [...plain.map((name) => parents(dirname(path), name.split("."))), ...from]
  return bases
    .slice(0, maxStatements)
    .map((some) => some.flatMap((base) => [`${base}.py`, resolve(base, "__init__.py")]))
}

/** `import a.b` loads both `a` and `a.b`. */
function parents(start: string, names: string[]): string[] {
  return names.map((_, i) => resolve(start, ...names.slice(0, i + 1)))
}

/** The names of `a.b, c as d`. */
function namesIn(list: string): string[] {
  return list.split(",").flatMap((one) => /^\s*([\w.]+)/.exec(one)?.[1] ?? [])
}
