// A call is judged when its message is written. The gate judges it again only if something may have changed since.
import assert from "node:assert/strict"
import { rmSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { stepOf } from "#ability/tool/run-tool.ts"
import { createPermits } from "#engine/rights/permits.ts"
import { createRights } from "#engine/rights/rights.ts"
import * as Message from "#knowledge/message/message.ts"
import { inWorld } from "../session/harness.ts"
import { needy } from "../session/needy.ts"

type Mode = "act" | "plan"

/** `decided`: how often the rules were asked since the calls were judged. */
async function withCalls(
  targets: string[],
  fn: (world: {
    path: string
    setMode(mode: Mode): void
    pass(target: string): Promise<"granted" | "refused">
    decided(): number
  }) => Promise<void>,
  permission = "file.read",
): Promise<void> {
  await inWorld([], async ({ tmp, session }) => {
    needy({ permission })
    let count = 0
    const place = { id: session.id, mode: "act" as Mode }
    const agent = { id: "build", permissions: [] }
    const rights = createRights({ session: place, agent })
    const counted = new WeakMap<object, Awaited<ReturnType<typeof rights.now>>>()
    async function now() {
      const verdicts = await rights.now()
      const known = counted.get(verdicts) ?? {
        ...verdicts,
        decide(need: Parameters<typeof verdicts.decide>[0]) {
          count++
          return verdicts.decide(need)
        },
      }
      counted.set(verdicts, known)
      return known
    }
    const { signal } = new AbortController()
    const permits = createPermits({
      session,
      agent: "build",
      mayCall: () => true,
      rights: { ...rights, now },
      asks: "deny",
      parent: undefined,
      limit: 1_000,
      records: { pending: new Set() },
      signal,
    })
    const calls = targets.map((target) => ({
      id: target,
      name: "needy",
      arguments: { target },
      approval: "pending" as const,
    }))
    const request = Message.make({
      sessionId: session.id,
      parentId: null,
      type: "tool_request",
      data: { calls },
    })
    await permits.judge(request)
    count = 0
    await fn({
      path: tmp.path,
      setMode(mode) {
        place.mode = mode
      },
      async pass(target) {
        const call = request.data.calls.find(({ id }) => id === target)!
        const context = { sessionId: session.id, messageId: request.id, callId: target, signal }
        const step = await stepOf({ id: target, name: "needy", arguments: { target } }, context)
        return "message" in ((await permits.slot({ request, call })(step)) ?? {}) ? "refused" : "granted"
      },
      decided: () => count,
    })
  })
}

test("a call that was judged passes the gate without being judged again", async () => {
  await withCalls(["a.txt"], async ({ pass, decided }) => {
    assert.equal(await pass("a.txt"), "granted")
    assert.equal(decided(), 0)
  })
})

test("a command is judged again, since scripts and links may have changed", async () => {
  await withCalls(
    ["ls"],
    async ({ pass, decided }) => {
      await pass("ls")
      assert.ok(decided() > 0)
    },
    "bash.execute",
  )
})

test("a call is judged again if its path leads elsewhere now", async () => {
  await withCalls(["a.txt"], async ({ path, pass, decided }) => {
    symlinkSync("/etc/hostname", join(path, "a.txt"))
    try {
      assert.equal(await pass("a.txt"), "refused")
      assert.ok(decided() > 0)
    } finally {
      rmSync(join(path, "a.txt"))
    }
  })
})

test("a call is judged again if the rules have changed", async () => {
  await withCalls(["a.txt"], async ({ setMode, pass, decided }) => {
    setMode("plan")
    await pass("a.txt")
    assert.ok(decided() > 0)
  })
})
