// Which file is the smallest or the largest: `ls` knows sizes.
import type { Clause } from "../clause.ts"
import { pickIn } from "../picks.ts"
import { at, type Call, type Proposal, says } from "../skill.ts"
import { globFor } from "./find.ts"

export function measure(clause: Clause): Proposal | undefined {
  const pick = pickIn(clause)
  if (pick !== "smallest" && pick !== "largest") return undefined
  if (
    !says(
      clause,
      /^(?:what|what's|whats|which|find|tell|name|identify|locate|list|pick|take|choose|select|determine)\b/,
    ) ||
    clause.files.length ||
    clause.quotes.length
  )
    return undefined
  if (!says(clause, /\b(?:files?|one|modules?|scripts?|it)\b/)) return undefined
  return { score: 4.5, calls: candidates(clause), after: { pick, tool: "ls", make: () => [] } }
}

/** The calls that name the files to choose from, where the clause itself says which. */
export function candidates(clause: Clause): Call[] {
  const glob = globFor(clause)
  const path = at(clause.place)
  if (glob)
    return [
      { tool: "glob", args: glob.includes("/") ? { pattern: glob } : { pattern: `**/${glob}`, ...path } },
    ]
  if (
    clause.place !== undefined ||
    says(clause, /\b(?:here|(?:this|current|the) (?:folder|directory|project|repo|repository))\b/)
  )
    return [{ tool: "ls", args: path }]
  return []
}
