// What the rules make of a clause: calls, and how to go on from their results.
import type { Clause } from "#ability/provider/rules/words/clause.ts"
import type { Made } from "./results.ts"

export type Json = string | number | boolean | null | Json[] | { [name: string]: Json }
export type Call = { tool: string; args: { [name: string]: Json } }

/** Files that only earlier results can name; its own is the file that the step itself looked at. */
export type Pick = "own" | "it" | "before" | "each" | "smallest" | "largest" | "last" | number

export type Proposal = {
  calls: Call[]
  /** Calls for each file that is picked from the results so far, after `calls`, whose results they may need. */
  after?: { pick: Pick; tool: string; make: (path: string, made: Made[]) => Call[]; otherwise?: string }
  /** Asked instead where a call names something that does not exist. */
  instead?: Call
  /** How to tell of the results. */
  count?: "files" | "lines" | "matches"
  last?: number
  isTest?: boolean
  /** It changes something, or runs what the person typed. */
  isDeed?: boolean
  /** Said where it cannot be done. */
  refusal?: string
}

/** Whether the words fit. */
export function says(clause: Clause, pattern: RegExp): boolean {
  return pattern.test(clause.shape)
}

/** The argument for a place; the folder one is in needs none. */
export function at(path: string | undefined): Call["args"] {
  return path === undefined || path === "." ? {} : { path }
}

export function one(tool: string, args: Call["args"]): Proposal {
  return { calls: [{ tool, args }] }
}

export function run(command: string): Proposal {
  return one("bash", { command })
}
