// Prompts of a session without guards: what asking for guards adds. Floor: the same prompts with the question taken out, by
// turns in the same process.
import { fork } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { registerHooks } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { median, report } from "./measure.ts"
import type { Order } from "./model.ts"

const pairs = Number(process.env.ROUNDS ?? 400)
const perSession = 20
const goal = 1.02

/** Set: guards are not asked for. */
const taken = globalThis as { isTakenOut?: boolean }
const asking = new URL("../src/engine/run/has-guards.ts", import.meta.url).href
registerHooks({
  load(url, context, next) {
    if (url !== asking) return next(url, context)
    const source = `import { hasGuards as asked } from "${asking}?asked"
export const hasGuards = () => (globalThis.isTakenOut ? Promise.resolve(false) : asked())`
    return { format: "module", source, shortCircuit: true }
  },
})
const Session = await import("#engine/session/session.ts")
const { Instance } = await import("#kernel/instance.ts")

const root = mkdtempSync(join(tmpdir(), "vitamin-bench-"))
const folder = join(root, "repo")
mkdirSync(folder)
for (let i = 0; i < 200; i++)
  writeFileSync(join(folder, `f${String(i).padStart(3, "0")}.txt`), "first line\n")
const model = fork(new URL("./model.ts", import.meta.url).pathname)
const [{ port }] = (await once(model, "message")) as [{ port: number }]
const order: Order = { turns: 0, deltas: 1, folder, perPrompt: true }
model.send(order)
await once(model, "message")
for (const name of ["DATA", "CONFIG", "STATE", "CACHE"]) process.env[`XDG_${name}_HOME`] = join(root, name)
Object.assign(process.env, {
  OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`,
  OPENAI_API_KEY: "x",
  VITAMIN_MODEL: "openai/m",
})
try {
  await Instance.provide({ directory: folder, fn: measure })
} finally {
  await Instance.disposeAll()
  model.kill()
  rmSync(root, { recursive: true, force: true })
}

async function measure(): Promise<void> {
  const times: [ours: number[], floor: number[]] = [[], []]
  let sessionId = ""
  for (let pair = 0; pair < pairs; pair++) {
    if (pair % (perSession / 2) === 0) sessionId = (await Session.create({})).id
    // Either goes first by turns.
    for (const side of pair % 2 ? [0, 1] : [1, 0]) times[side]!.push(await prompt(sessionId, side === 1))
  }
  const [ours, floor] = times.map((list) => median(list.slice(pairs / 10)))
  report("guards: a prompt with none configured, CPU", ours!, floor!, "ms", goal)
}

/** Milliseconds of processor time. */
async function prompt(sessionId: string, isTakenOut: boolean): Promise<number> {
  taken.isTakenOut = isTakenOut
  const begin = process.cpuUsage()
  await Session.prompt({ sessionId, text: "go" })
  const { user, system } = process.cpuUsage(begin)
  return (user + system) / 1_000
}
