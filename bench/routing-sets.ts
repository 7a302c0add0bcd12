// The labelled requests for routing, and how often a choice is right on them. bench/data/routing has one request per line.
import { readFileSync } from "node:fs"
import { join } from "node:path"

/** `label`: a specialist, or `none`. */
export type Labelled = { label: string; isHard: boolean; request: string }
/** `chosen`: how often each one was chosen, by label. */
export type Routed = { share: number; chosen: Record<string, Record<string, number>> }

/** `requests`: the scoring was tuned on them. `unseen`: written afterwards, without a look at the scoring. */
export const routingSets = ["requests", "unseen"] as const

export function readLabelled(set: (typeof routingSets)[number]): Labelled[] {
  const text = readFileSync(join(import.meta.dirname, "data/routing", `${set}.txt`), "utf8")
  return text.split("\n").flatMap((line) => {
    if (line === "" || line.startsWith("#")) return []
    const [label, request] = line.split("\t") as [string, string]
    return [{ label: label.replace("!", ""), isHard: label.endsWith("!"), request }]
  })
}

/** `share`: right ones, in percent. */
export function judgeRouting(set: readonly Labelled[], choose: (request: string) => string): Routed {
  const chosen: Routed["chosen"] = {}
  let right = 0
  for (const { label, request } of set) {
    const choice = choose(request)
    chosen[label] ??= {}
    const row = chosen[label]
    row[choice] = (row[choice] ?? 0) + 1
    if (choice === label) right++
  }
  return { share: (100 * right) / set.length, chosen }
}
