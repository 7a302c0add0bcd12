// The exploration of 100 000 states of guards, beside a plain breadth-first search over as many strings in the same run.
import { type Action, explore } from "#engine/explore/explore.ts"
import { bSync, bThread, type Thread } from "#kernel/behavioral/behavioral.ts"
import { median, report } from "./measure.ts"

const rounds = 5
const mostSeconds = 5
const [guards, positions] = [5, 10]

/** Each counts its own event up to a block, which another event ends. */
const threads = Array.from({ length: guards }, (_, i): [string, Thread] => {
  const waiting = bSync({ waitFor: `write ${i}` })
  const blocking = bSync({ block: [`write ${i}`, "answer"], waitFor: `look ${i}` })
  return [`guard ${i}`, bThread([...Array<typeof waiting>(positions - 1).fill(waiting), blocking], true)]
})
const named = (type: string): Action => ({ name: type, event: { type } })
const alphabet = [...threads.flatMap((_, i) => [named(`write ${i}`), named(`look ${i}`)]), named("answer")]

const [ours, floor]: [number[], number[]] = [[], []]
for (let round = 0; round < rounds; round++) {
  ours.push(
    secondsOf(() => {
      const { states, findings } = explore({ threads, alphabet, required: ["answer"] })
      if (states !== positions ** guards || findings.length) throw new Error(`${states} states`)
    }),
  )
  floor.push(secondsOf(search))
}
report(`explore: ${positions ** guards} states`, 1_000 * median(ours), 1_000 * median(floor), "ms")
const isMet = median(ours) <= mostSeconds
console.log(`  goal ${mostSeconds} s ${isMet ? "met" : "MISSED"}`)
if (!isMet) process.exitCode = 1

/** The same states: strings, each with a next one for every guard. */
function search(): void {
  const states = ["\0".repeat(guards)]
  const seen = new Set(states)
  for (const state of states)
    for (let i = 0; i < guards; i++) {
      const next = String.fromCharCode((state.charCodeAt(i) + 1) % positions)
      const to = state.slice(0, i) + next + state.slice(i + 1)
      if (seen.has(to)) continue
      seen.add(to)
      states.push(to)
    }
}

function secondsOf(work: () => void): number {
  const { user: begin } = process.cpuUsage()
  work()
  return (process.cpuUsage().user - begin) / 1e6
}
