// Deliveries a second of GET /event with clients that drop and come back, beside those of a bare Node server whose
// clients stay: same payloads, same client code, one run. Prints both and their ratio.
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Order, Outcome } from "./sse-clients.ts"
import type { Ready } from "./sse-server.ts"

const clients = 100
const events = 10_000
const size = 200
const goal = 0.55
const rounds = 3

const root = mkdtempSync(join(tmpdir(), "vitamin-bench-"))
const best = { bare: 0, ours: 0 }
let faults = 0
for (let round = 1; round <= rounds; round++)
  for (const kind of ["bare", "ours"] as const) {
    const { rate, outcome } = await measure(kind, kind === "ours" ? 5 : 0, round)
    best[kind] = Math.max(best[kind], rate)
    if (kind === "ours") faults += outcome.lost + outcome.doubled + outcome.gaps
    const { lost, doubled, gaps } = outcome
    console.log(`${kind}: ${Math.round(rate)} deliveries/s, lost ${lost}, doubled ${doubled}, gaps ${gaps}`)
  }
const ratio = best.ours / best.bare
console.log(`sse: ${clients} clients x ${events} events, 5 drops each: ${Math.round(best.ours)} deliveries/s`)
console.log(`sse: ${ratio.toFixed(2)} x a bare server (goal ${goal}), faults ${faults}`)
rmSync(root, { recursive: true, force: true })
process.exitCode = ratio >= goal && faults === 0 ? 0 : 1

async function measure(kind: "bare" | "ours", drops: number, round: number) {
  const env = { ...process.env, XDG_STATE_HOME: join(root, String(round)), XDG_DATA_HOME: join(root, "data") }
  const server = fork(join(import.meta.dirname, "sse-server.ts"), [kind, root], { env })
  const { port, token } = await answer<Ready>(server)
  const crowd = fork(join(import.meta.dirname, "sse-clients.ts"))
  crowd.send({ port, token, clients, events, drops } satisfies Order)
  await answer(crowd)
  const outcome = answer<Outcome>(crowd)
  const start = performance.now()
  server.send({ events, size })
  const result = await outcome
  const seconds = (performance.now() - start) / 1000
  for (const child of [server, crowd]) child.kill()
  await Promise.all([server, crowd].map((child) => once(child, "exit")))
  return { rate: (clients * events) / seconds, outcome: result }
}

async function answer<T>(child: ChildProcess): Promise<T> {
  const [message] = await once(child, "message")
  return message as T
}
