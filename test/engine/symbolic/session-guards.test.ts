// The messages of a session say all that its guards must know: guards that read them are where the live ones are.
import assert from "node:assert/strict"
import { test } from "node:test"
import type { Step } from "#ability/tool/run-tool.ts"
import * as ToolRegistry from "#ability/tool/tool-registry.ts"
import { withKept } from "#engine/symbolic/guard-record.ts"
import { configuredGuards } from "#engine/symbolic/load-guards.ts"
import { canApprove, createSessionGuards, type SessionGuards } from "#engine/symbolic/session-guards.ts"
import type * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import * as Message from "#knowledge/message/message.ts"
import { createRandom, type Random } from "../../fixture/random.ts"
import { repeat } from "../../fixture/soak.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

const configured: unknown = {
  "read-before-edit": {},
  "tests-before-answer": { command: "npm test" },
  "approve-deploy": { command: "deploy" },
  "look-at-diff": { writes: 2 },
  "no-repeats": { times: 2 },
  "no-network-after-secret": {},
  own: {
    when: "bash.failed",
    block: ["edit", "bash:deploy"],
    until: "read",
    because: "a command failed",
    each: "path",
  },
}
const guards = () => configuredGuards(configured as Config.Info["guards"])
const commands = ["npm test", "deploy", "git diff", "npm test || true", "curl x"]
const paths = ["a.ts", "b.ts", ".env"]
type Call = Message.Call

function stepOf(call: Call): Step {
  const tool = ToolRegistry.get(call.name)
  const args = call.arguments
  const context = { sessionId: "" }
  return { call, tool, args, context, needs: tool.permission!(args, context) } as unknown as Step
}

/** What the guards would block now. Offering changes them, so each probe gets guards of its own. */
function stateOf(make: () => SessionGuards): string[] {
  const calls = [
    ...paths.map((path) => ["edit", { path, edits: [] }]),
    ...commands.map((command) => ["bash", { command }]),
    ["fetch", { url: "http://127.0.0.1/" }],
  ].map(([name, args]) => ({ id: "probe", name, arguments: args, approval: "approved" }) as Call)
  return [...calls.map((call) => make().offerCall(stepOf(call))), make().offerAnswer()].map((blocked) =>
    blocked.map(({ guard, reason }) => `${guard}: ${reason}`).join("; "),
  )
}

/** A session as the loop drives its guards. The same seed gives the same session. */
function randomSession(seed: number): { guards: SessionGuards; messages: Message.Info[]; blocked: number } {
  const random = createRandom(seed)
  const live = createSessionGuards(guards(), () => {})
  const messages: Message.Info[] = []
  let [made, blocked] = [0, 0]
  const add = (part: object) => {
    const place = { sessionId: "sess", branch: "main", parentId: messages.at(-1)?.id ?? null }
    const message = Message.make({ ...place, ...part } as Parameters<typeof Message.make>[0])
    messages.push(message)
    live.read(message)
  }
  for (let turn = random(12) + 1; turn > 0; turn--) {
    if (random(4) === 0) add({ type: "text", data: { role: "user", parts: [] } })
    if (random(4) === 0) {
      add({ type: "text", data: { role: "assistant", parts: [], finish: "stop" } })
      const origin = { kind: "guard", name: "x" }
      if (live.offerAnswer().length) add({ type: "text", data: { role: "system", parts: [], origin } })
      continue
    }
    const calls = Array.from({ length: random(3) + 1 }, () => callOf(random, `call_${made++}`))
    add({ type: "tool_request", data: { calls } })
    // Groups of calls that run in parallel, each offered before the first result of its group.
    for (let from = 0; from < calls.length; ) {
      const group = calls.slice(from, from + random(3) + 1)
      from += group.length
      for (const call of group) {
        const by = live.offerCall(stepOf(call))
        const isApproved = by.length > 0 && canApprove(by, stepOf(call)) && random(2) === 0
        if (isApproved) live.approveCall(stepOf(call))
        if (by.length) blocked++
      }
      for (const { id, name } of group) {
        const exitCode = random(3) === 0 ? 1 : 0
        const metadata = name === "bash" ? { data: { exitCode } } : {}
        const status = random(6) === 0 ? "error" : "success"
        const data = {
          requestId: id,
          toolName: name,
          status,
          output: "",
          duration: 0,
          timestamp: 0,
          metadata,
        }
        add({
          type: "tool_result",
          data: withKept(data as Message.Of<"tool_result">["data"], live.takeKept(id)),
        })
      }
    }
  }
  return { guards: live, messages, blocked }
}

function callOf(random: Random, id: string): Call {
  const path = paths[random(paths.length)]!
  const given: [string, Message.JsonObject][] = [
    ["read", { path }],
    ["edit", { path, edits: [] }],
    ["write", { path, content: "" }],
    ["bash", { command: commands[random(commands.length)]! }],
    ["fetch", { url: "http://127.0.0.1/" }],
  ]
  const [name, args] = given[random(given.length)]!
  return { id, name, arguments: args, approval: "approved" }
}

const times = repeat(30, 1_000)
test(`guards that read the messages of a session are where the live ones are (${times} random sessions)`, async () => {
  await using tmp = await tmpdir()
  let blocked = 0
  await Instance.provide({
    directory: tmp.path,
    fn() {
      for (let seed = 1; seed <= times; seed++) {
        const session = randomSession(seed)
        blocked += session.blocked
        const again = () => {
          const read = createSessionGuards(guards(), () => {})
          for (const message of session.messages) read.read(message)
          return read
        }
        assert.deepEqual(
          stateOf(again),
          stateOf(() => randomSession(seed).guards),
          `seed ${seed}`,
        )
      }
    },
  })
  await Instance.disposeAll()
  assert.ok(blocked > times, `${blocked}`)
})
