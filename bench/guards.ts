// Measures guards: a call is offered to 50 of them and its result told to them, beside a session with none. Then the same
// with guards in TypeScript, whose code runs within a time limit, and with a session of 5 000 messages that is read again.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Step } from "#ability/tool/run-tool.ts"
import * as ToolRegistry from "#ability/tool/tool-registry.ts"
import type { Guard } from "#engine/symbolic/guard.ts"
import { withKept } from "#engine/symbolic/guard-record.ts"
import { configuredGuards, loadGuards } from "#engine/symbolic/load-guards.ts"
import { createSessionGuards } from "#engine/symbolic/session-guards.ts"
import { Instance } from "#kernel/instance.ts"
import * as Message from "#knowledge/message/message.ts"
import { median, report } from "./measure.ts"

const rounds = 2_500
/** Milliseconds. */
const goal = { action: 0.2, replay: 200 }
const folder = mkdtempSync(join(tmpdir(), "vitamin-bench-"))
for (const name of ["data", "config"]) process.env[`XDG_${name.toUpperCase()}_HOME`] = join(folder, name)

/** Threads of guards in TypeScript, which do the same. */
const sources: Record<string, (i: number) => string> = {
  generators: (i) => `function* () {
    for (;;) {
      yield { waitFor: "edit.done:src/${i}/**" }
      yield { block: ["answer", "bash:make ${i}*"], waitFor: "bash.done:make ${i}" }
    }
  }`,
  functions: (i) => `function* () {
    for (;;) {
      yield { waitFor: ({ type, detail }) => type === "edit.done" && detail.path?.startsWith("src/${i}/") }
      yield {
        block: ({ type, detail }) => type === "answer" || detail.target?.startsWith("make ${i}"),
        waitFor: ({ type, detail }) => type === "bash.done" && detail.target === "make ${i}",
      }
    }
  }`,
}

await Instance.provide({
  directory: folder,
  fn: async () => {
    act(guards(), rounds)
    const none = act([], rounds)
    const data = act(guards(), rounds)
    report("guards: an action, 50 guards", median(data.times), median(none.times), "ms")
    // Without guards none of this runs, so all of it is added.
    check("added by 50 guards", median(data.times), goal.action)
    for (const [what, source] of Object.entries(sources)) {
      const { times } = act(await inTypeScript(source), rounds)
      report(`guards: an action, 50 in TypeScript, ${what}`, median(times), median(none.times), "ms")
      check("added by them", median(times), goal.action)
    }
    reportGrowth()
    const begin = process.cpuUsage()
    const again = createSessionGuards(guards(), () => {})
    for (const message of data.messages.slice(0, 5_000)) again.read(message)
    const { user, system } = process.cpuUsage(begin)
    check("5 000 messages read again, CPU", (user + system) / 1_000, goal.replay)
  },
})
await Instance.disposeAll()
rmSync(folder, { recursive: true, force: true })

/** With a guard for each file, the last of many files must cost what the first did. */
function reportGrowth(): void {
  const perFile = { each: "path" as const, when: "write.done", until: "bash.done:make", because: "x" }
  const list = configuredGuards({ "read-before-edit": {}, own: { ...perFile, block: "answer" } })
  const { times } = act(list, 6_000, (i) => ["write", { path: `src/${i}.ts`, content: "x" }])
  const [first, last] = [times.slice(0, 1_000), times.slice(-1_000)].map((some) => median(some))
  report("guards: the last of 6 000 files, a guard for each", last!, first!, "ms", 2)
}

function check(what: string, milliseconds: number, most: number): void {
  const verdict = milliseconds <= most ? "met" : "MISSED"
  console.log(`  ${what}: ${milliseconds.toFixed(3)} ms  goal ${most} ms ${verdict}`)
  if (milliseconds > most) process.exitCode = 1
}

/** The ready-made ones, and others that wait and block in turn. */
function guards(): Guard[] {
  const names =
    "read-before-edit tests-before-answer approve-deploy no-network-after-secret no-repeats plan-before-act"
  const ready = Object.fromEntries(names.split(" ").map((name) => [name, {}]))
  const own = Array.from({ length: 42 }, (_, i) => [
    `own-${i}`,
    {
      when: `edit.done:src/${i}/**`,
      block: ["answer", `bash:make ${i}*`],
      until: `bash.done:make ${i}`,
      because: "x",
    },
  ])
  return configuredGuards({
    ...ready,
    "look-at-diff": { writes: 100 },
    budget: { tokens: 1e12 },
    ...Object.fromEntries(own),
  })
}

async function inTypeScript(source: (i: number) => string): Promise<readonly Guard[]> {
  const place = join(folder, "config", "vitamin", "guards")
  mkdirSync(place, { recursive: true })
  const guards = Array.from({ length: 50 }, (_, i) => {
    return `export const own${i} = { because: "x", thread: ${source(i)} }`
  })
  writeFileSync(join(place, "own.ts"), guards.join("\n"))
  const loaded = await loadGuards()
  if (loaded.length !== 50) throw new Error(`${loaded.length} guards`)
  return loaded
}

/** Calls tools, by turns a read, an edit and a command, and returns the milliseconds of each, without making the messages. */
function act(
  list: readonly Guard[],
  count: number,
  nextCall = callOf,
): { times: number[]; messages: Message.Info[] } {
  const guards = createSessionGuards(list, () => {})
  const times: number[] = []
  const messages: Message.Info[] = []
  const timed = (work: () => void) => {
    const begin = performance.now()
    work()
    times[times.length - 1]! += performance.now() - begin
  }
  const read = (message: Message.Info) => {
    messages.push(message)
    timed(() => guards.read(message))
  }
  for (let i = 0; i < count; i++) {
    const id = `call_${i}`
    const [name, args] = nextCall(i)
    const tool = ToolRegistry.get(name)
    const call = { id, name, arguments: args, approval: "approved" as const }
    const context = { sessionId: "" }
    const step = { call, tool, args, context, needs: tool.permission!(args, context) } as unknown as Step
    times.push(0)
    read(make({ type: "tool_request", data: { calls: [call] } }))
    timed(() => void guards.offerCall(step))
    const data = {
      requestId: id,
      toolName: name,
      status: "success" as const,
      output: "ok",
      duration: 1,
      timestamp: 0,
    }
    read(make({ type: "tool_result", data: withKept(data, guards.takeKept(id)) }))
  }
  return { times: times.slice(count / 10), messages }
}

function callOf(i: number): [string, Message.JsonObject] {
  const path = `src/${i % 50}/file.ts`
  if (i % 3 === 0) return ["read", { path }]
  if (i % 3 === 1) return ["edit", { path, edits: [] }]
  return ["bash", { command: `make ${i % 42}` }]
}

function make(
  part: Pick<Message.Of<"tool_request">, "type" | "data"> | Pick<Message.Of<"tool_result">, "type" | "data">,
) {
  return Message.make({ sessionId: "sess", parentId: null, branch: "main", ...part } as Parameters<
    typeof Message.make
  >[0])
}
