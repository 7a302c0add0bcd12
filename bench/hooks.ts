// Measures hooks: what ten functions that do nothing add to each slot of a call and to a prompt, what a command hook adds to a
// bare start of the same command, and what asking for hooks costs where there are none.
import { once } from "node:events"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { hasHooks } from "#ability/hook/has-hooks.ts"
import { stepOf } from "#ability/tool/run-tool.ts"
import { openHooks } from "#engine/hook/session-hooks.ts"
import { createProgress, type Run } from "#engine/run/run.ts"
import { Instance } from "#kernel/instance.ts"
import { findProgram } from "#kernel/process/find-program.ts"
import * as Message from "#knowledge/message/message.ts"
import { childProcess } from "#util/process.ts"
import { median, report } from "./measure.ts"

const rounds = Number(process.env.ROUNDS ?? 100)
/** Milliseconds. */
const goal = { functions: 0.2, command: 1 }
const folder = mkdtempSync(join(tmpdir(), "vitamin-bench-"))
for (const name of ["data", "config"]) process.env[`XDG_${name.toUpperCase()}_HOME`] = join(folder, name)
const project = join(folder, "project")
mkdirSync(project)
writeFileSync(join(project, "a.txt"), "x\n")
const context = { sessionId: "s", messageId: "m", callId: "c", signal: new AbortController().signal }
const call = { id: "c", name: "ls", arguments: {} }

const ofCalls = ["PreToolUse", "PermissionRequest", "PostToolUse"]
const ofPrompts = ["UserPromptSubmit", "Stop"]
const forEvents = (hooks: string) =>
  `{ ${[...ofCalls, ...ofPrompts].map((event) => `${event}: [{ hooks: ${hooks} }]`).join(", ")} }`

try {
  await Instance.provide({ directory: project, fn: measureNone })
  await Instance.disposeAll()
  const functions = join(folder, "config.ts")
  const ten = Array.from({ length: 10 }, () => "() => {}").join(", ")
  writeFileSync(functions, `export default { hooks: { on: ${forEvents(`[${ten}]`)} } }`)
  process.env.VITAMIN_CONFIG = functions
  await Instance.provide({ directory: project, fn: measureFunctions })
  await Instance.disposeAll()
  delete process.env.VITAMIN_CONFIG
  mkdirSync(join(folder, "config", "vitamin"), { recursive: true })
  const command = { hooks: [{ type: "command", command: "true" }] }
  const hooks = Object.fromEntries([...ofCalls, ...ofPrompts].map((event) => [event, [command]]))
  writeFileSync(join(folder, "config", "vitamin", "hooks.json"), JSON.stringify({ hooks }))
  await Instance.provide({ directory: project, fn: measureCommand })
} finally {
  await Instance.disposeAll()
  rmSync(folder, { recursive: true, force: true })
}

async function measureNone(): Promise<void> {
  const times: number[] = []
  for (let i = 0; i < 20 * rounds; i++) {
    const start = performance.now()
    await hasHooks()
    times.push(performance.now() - start)
  }
  console.log(
    `hooks: asking for them, where there are none ${(1_000 * median(times)).toFixed(1)} µs for each prompt`,
  )
}

/** All slots of a call together, and the two of a prompt. */
async function measureFunctions(): Promise<void> {
  const slots = await slotsOf()
  const times = Object.keys(slots).map((): number[] => [])
  for (let i = 0; i < 20 * rounds; i++)
    for (const [at, work] of Object.values(slots).entries()) times[at]!.push(await timeOf(work))
  const medians = times.map(median)
  const each = Object.keys(slots).map((name, at) => `${name} ${medians[at]!.toFixed(3)}`)
  console.log(`hooks: ten functions, ms: ${each.join(", ")}`)
  const calls = medians.slice(0, ofCalls.length).reduce((sum, one) => sum + one, 0)
  const prompts = medians.slice(ofCalls.length).reduce((sum, one) => sum + one, 0)
  check("added to a call by ten functions at each of its three events", calls, goal.functions)
  check("added to a prompt by ten functions at each of its two events", prompts, goal.functions)
}

/** Each slot beside a bare spawn, by turns. */
async function measureCommand(): Promise<void> {
  for (const [name, work] of Object.entries(await slotsOf())) {
    const times: [ours: number[], spawn: number[]] = [[], []]
    for (let i = 0; i < rounds; i++)
      // Either goes first by turns.
      for (const side of i % 2 ? [0, 1] : [1, 0]) times[side]!.push(await timeOf(side ? spawnBare : work))
    const [ours, bare] = [median(times[0]), median(times[1])]
    report(`hooks: a command hook of ${name}, beside a bare spawn`, ours, bare, "ms")
    check("added to the bare spawn", ours - bare, goal.command)
  }
}

/** The functions that fire the hooks of each event, in the order of the events. */
async function slotsOf(): Promise<Record<string, () => Promise<unknown>>> {
  const progress = createProgress([])
  const session = { id: "s", branch: "main", mode: "act" } as Run["session"]
  const place = { session, progress, signal: context.signal, agent: { id: "build" } as Run["agent"] }
  const hooks = (await openHooks({ ...place, parent: undefined, isUnasked: true }))!
  const asked = { request: {}, call } as unknown as Parameters<typeof hooks.calls>[1]
  // Every call needs a person, so that all slots have work.
  const rights = { now: async () => ({ decide: () => ({ action: "ask" }) }) }
  const run = { progress, permits: { rights, asks: "once" } } as unknown as Run
  const slots = hooks.calls(run, asked, async () => undefined)
  const step = await stepOf(call, context)
  const result = { status: "success", text: "a.txt", title: "ls", duration: 1 } as const
  const answer = Message.make({
    sessionId: "s",
    parentId: null,
    type: "text",
    data: { role: "assistant", parts: [{ type: "text", text: "Done." }] },
  })
  const works: Record<string, () => Promise<unknown>> = {
    PreToolUse: async () => slots.before(step),
    PermissionRequest: async () => slots.permit(step),
    PostToolUse: async () => slots.after(step, result),
    UserPromptSubmit: () => hooks.submit("a prompt"),
    Stop: () => hooks.holdBack(answer),
  }
  return works
}

/** The floor: the same shell with the same input, and nothing of ours. */
async function spawnBare(): Promise<void> {
  const child = childProcess().spawn(findProgram(["bash", "sh"])!, ["-c", "true"], {
    detached: true,
    stdio: "pipe",
  })
  child.stdin.on("error", () => {})
  child.stdin.end(`${JSON.stringify({ session_id: "s", tool_input: {} })}\n`)
  child.stdout.resume()
  child.stderr.resume()
  await once(child, "close")
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

function check(what: string, milliseconds: number, most: number): void {
  const isMet = milliseconds <= most
  console.log(`  ${what}: ${milliseconds.toFixed(3)} ms  goal ${most} ms ${isMet ? "met" : "MISSED"}`)
  if (!isMet) process.exitCode = 1
}
