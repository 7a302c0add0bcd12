// Routing without a model: how often it is right on both sets of requests, whom it chooses instead, and how long it takes
// beside the embedding of the request alone.
import { route } from "#ability/agent/route.ts"
import { agentSpecs } from "#ability/agent/specialists.ts"
import { createEmbedder } from "#knowledge/embedder/create-embedder.ts"
import { median, report } from "./measure.ts"
import { judgeRouting, readLabelled, routingSets } from "./routing-sets.ts"

const goals = { requests: 90, unseen: 70 }
const mostMs = 1
const rounds = 20
const names = [...agentSpecs.map(({ name }) => name), "none"]
const choose = (request: string) => route(request, agentSpecs)[0]?.agent ?? "none"

const start = performance.now()
choose("where is the timeout set")
console.log(
  `routing: the first request, with the embedder and the examples: ${(performance.now() - start).toFixed(0)} ms`,
)

for (const set of routingSets) {
  const { share, chosen } = judgeRouting(readLabelled(set), choose)
  console.log(`\nrouting: ${set}, label and choice`)
  console.log(["".padEnd(10), ...names.map((name) => name.padStart(10))].join(" "))
  for (const label of names) {
    const counts = names.map((name) => String(chosen[label]?.[name] ?? "·").padStart(10))
    console.log([label.padEnd(10), ...counts].join(" "))
  }
  verdict(`routing: right on ${set}`, share.toFixed(1), `${goals[set]} %`, share >= goals[set])
}

const requests = readLabelled("requests").map(({ request }) => request)
const { embedNow } = createEmbedder()
const floor = millisecondsOf((request) => embedNow!(request))
const ours = millisecondsOf(choose)
report("\nrouting: one request (floor: its embedding)", ours * 1_000, floor * 1_000, "µs")
verdict("routing: one request", ours.toFixed(3), `${mostMs} ms`, ours <= mostMs)

/** Milliseconds of processor time for one request. */
function millisecondsOf(work: (request: string) => unknown): number {
  const times = Array.from({ length: rounds }, () => {
    const begin = process.cpuUsage()
    for (const request of requests) work(request)
    const { user, system } = process.cpuUsage(begin)
    return (user + system) / 1_000 / requests.length
  })
  return median(times)
}

function verdict(what: string, value: string, goal: string, isMet: boolean) {
  console.log(`${what}: ${value} (goal ${goal})${isMet ? "" : " MISSED"}`)
  if (!isMet) process.exitCode = 1
}
