// What the rules propose for a clause: calls, and how to continue from their results. Reads facts out of results.
import { posix } from "node:path"
import type { Clause } from "#ability/provider/rules/words/clause.ts"

export type Json = string | number | boolean | null | Json[] | { [name: string]: Json }
export type Call = { tool: string; args: { [name: string]: Json } }

export type Result = Call & { output: string; isError: boolean }
export type Entry = { path: string; bytes: number }

/** Files that are chosen from results; `own`: the file that the step itself has read. */
export type Pick = "own" | "it" | "before" | "each" | "smallest" | "largest" | "last" | number

export type Proposal = {
  calls: Call[]
  /** Calls after `calls`, for each file that is picked from the results so far. */
  after?: { pick: Pick; tool: string; make: (path: string, made: Result[]) => Call[]; otherwise?: string }
  /** Used instead if a call names something that does not exist. */
  instead?: Call
  /** How the results are described. */
  count?: "files" | "lines" | "matches"
  last?: number
  isTest?: boolean
  /** It changes something, or runs what the person typed. */
  hasEffect?: boolean
  /** Why it cannot be done, in full or in part. */
  refusal?: string
}

const units: Record<string, number> = { B: 1, KB: 1e3, MB: 1e6, GB: 1e9 }
const isNote = (line: string) => /^\[.*\]$/.test(line)

/** Whether the clause has the pattern. */
export function says(clause: Clause, pattern: RegExp): boolean {
  return pattern.test(clause.shape)
}

/** The arguments for a path; the working folder needs none. */
export function at(path: string | undefined): Call["args"] {
  return path === undefined || path === "." ? {} : { path }
}

export function one(tool: string, args: Call["args"]): Proposal {
  return { calls: [{ tool, args }] }
}

export function run(command: string): Proposal {
  return one("bash", { command })
}

/** Files that a result names, in its order. */
export function filesIn({ tool, args, output, isError }: Result): string[] {
  if (isError) return []
  const lines = output.split("\n").filter((line) => line && !isNote(line))
  if (tool === "glob") return lines.filter((line) => !line.startsWith("No file matches "))
  if (tool === "ls") return entriesIn({ tool, args, output, isError }).map(({ path }) => path)
  if (tool === "grep") return lines.filter((line) => !/^\d+[:-]|^--$|^No match for /.test(line))
  return typeof args.path === "string" ? [args.path] : []
}

/** The files of a listed folder with their sizes. */
export function entriesIn({ tool, args, output, isError }: Result): Entry[] {
  if (tool !== "ls" || isError) return []
  const folder = typeof args.path === "string" ? args.path : "."
  return output.split("\n").flatMap((line) => {
    const found = /^(.+) {2}(\d+(?:\.\d+)?) (B|KB|MB|GB)$/.exec(line)
    return found ? [{ path: posix.join(folder, found[1]!), bytes: Number(found[2]) * units[found[3]!]! }] : []
  })
}

export function isMissing(made: Result | undefined): boolean {
  return made?.isError === true && / does not exist/.test(made.output)
}

/** Why git has no answer. */
export function gitTrouble({ tool, output }: Result): string | undefined {
  if (tool !== "bash") return undefined
  if (/^fatal: not a git repository/m.test(output)) return "This folder is not in a git repository."
  return /^fatal: (?:ambiguous argument|bad revision) 'HEAD'/m.test(output)
    ? "There is no commit yet."
    : undefined
}

/** Says in words that nothing has changed: git itself then prints nothing, or only the branch. */
export function gitUnchanged({ tool, args, output }: Result): string | undefined {
  const command = tool === "bash" ? String(args.command) : ""
  const clean = /^git diff HEAD\b/.test(command) ? /^(?:\(no output\))?$/ : /^## .*$/
  const isClean = /^git (?:diff HEAD|status --short --branch)\b/.test(command) && clean.test(output.trim())
  return isClean ? "Nothing has changed since the last commit." : undefined
}

/** How many lines, files or matches there are. */
export function countIn(made: Result, what: "files" | "lines" | "matches"): string {
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
