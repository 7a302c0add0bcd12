// What the results of tools say, for rules that go on from them.
import { posix } from "node:path"
import type { Call } from "./proposal.ts"

export type Made = Call & { output: string; isError: boolean }
export type Entry = { path: string; bytes: number }

const units: Record<string, number> = { B: 1, KB: 1e3, MB: 1e6, GB: 1e9 }
const isNote = (line: string) => /^\[.*\]$/.test(line)

/** Files that a result names, in its order. */
export function filesIn({ tool, args, output, isError }: Made): string[] {
  if (isError) return []
  const lines = output.split("\n").filter((line) => line && !isNote(line))
  if (tool === "glob") return lines.filter((line) => !line.startsWith("No file matches "))
  if (tool === "ls") return entriesIn({ tool, args, output, isError }).map(({ path }) => path)
  if (tool === "grep") return lines.filter((line) => !/^\d+[:-]|^--$|^No match for /.test(line))
  return typeof args.path === "string" ? [args.path] : []
}

/** The files of a listed folder with their sizes. */
export function entriesIn({ tool, args, output, isError }: Made): Entry[] {
  if (tool !== "ls" || isError) return []
  const folder = typeof args.path === "string" ? args.path : "."
  return output.split("\n").flatMap((line) => {
    const found = /^(.+) {2}(\d+(?:\.\d+)?) (B|KB|MB|GB)$/.exec(line)
    return found ? [{ path: posix.join(folder, found[1]!), bytes: Number(found[2]) * units[found[3]!]! }] : []
  })
}

export function isMissing(made: Made | undefined): boolean {
  return made?.isError === true && / does not exist/.test(made.output)
}

/** Why git has no answer. */
export function gitTrouble({ tool, output }: Made): string | undefined {
  if (tool !== "bash") return undefined
  if (/^fatal: not a git repository/m.test(output)) return "This folder is not in a git repository."
  return /^fatal: (?:ambiguous argument|bad revision) 'HEAD'/m.test(output)
    ? "There is no commit yet."
    : undefined
}

/** What git shows if nothing was changed says little by itself: the line of the branch, or no line. */
export function gitUnchanged({ tool, args, output }: Made): string | undefined {
  const command = tool === "bash" ? String(args.command) : ""
  const clean = /^git diff HEAD\b/.test(command) ? /^(?:\(no output\))?$/ : /^## .*$/
  const isClean = /^git (?:diff HEAD|status --short --branch)\b/.test(command) && clean.test(output.trim())
  return isClean ? "Nothing has changed since the last commit." : undefined
}

/** How many lines, files or matches there are. */
export function countIn(made: Made, what: "files" | "lines" | "matches"): string {
  const { output, tool } = made
  const more = /\[(?:.*; )?(?:more than )?(\d+) (?:lines in all|files match|entries|matches)/.exec(
    output,
  )?.[1]
  const isMore = /\[.*more than \d+ matches/.test(output)
  if (what === "lines") {
    const last = output.split("\n").findLast((line) => /^\d+\t/.test(line))
    return more ?? (output === "(empty file)" ? "0" : (last?.split("\t", 1)[0] ?? "0"))
  }
  if (what === "matches")
    return isMore
      ? `more than ${more}`
      : String(output.split("\n").filter((line) => /^\d+:/.test(line)).length)
  if (tool !== "ls") return more ?? String(filesIn(made).length)
  const entries =
    output === "(empty folder)" ? [] : output.split("\n").filter((line) => line && !isNote(line))
  return more ?? String(entries.length)
}
