// Questions in the loop: who is asked about a call, the effect of the answer, and what happens without one.
import assert from "node:assert/strict"
import { test } from "node:test"
import { setTimeout as sleep } from "node:timers/promises"
import { z } from "zod"
import * as Grant from "#ability/permission/grant.ts"
import * as Permission from "#ability/permission/permission.ts"
import * as Tool from "#ability/tool/tool.ts"
import * as Session from "#engine/session/session.ts"
import * as Config from "#kernel/config/config.ts"
import { call, calls, text } from "../../fixture/fake-llm.ts"
import { until } from "../../fixture/until.ts"
import { inWorld, resultsOf, textOf } from "../session/harness.ts"
import { approvals, needy, next, outputs, use, written } from "../session/needy.ts"

test('a call that no rule decides waits for a person, is shown in the session, and runs after "once"', async () => {
  await inWorld([use("a"), text("done")], async ({ ask, messages, events, session, status }) => {
    const ran = needy()
    const answered = ask("go")
    const [request] = await next()
    const rule = { permission: "network.fetch", pattern: "a", action: "allow" }
    assert.deepEqual(request!.needs, [{ permission: "network.fetch", target: "a", rules: [rule] }])
    assert.equal(request!.sessionId, session.id)
    assert.equal(request!.tool, "needy")
    assert.equal(request!.agent, "build")
    assert.equal(request!.expires - request!.time, 20_000)
    assert.equal(request!.messageId, (await messages()).find(({ type }) => type === "tool_request")?.id)
    assert.deepEqual(approvals(await messages()), ["pending"])
    await until(async () => (await status()) === "waiting", "waiting")
    assert.deepEqual(ran, [])
    await Permission.reply(request!.id, "once")
    assert.deepEqual(approvals(await messages()), ["approved"], "kept before the reply is acknowledged")
    assert.equal(textOf(await answered), "done")
    assert.deepEqual(ran, ["a"])
    assert.deepEqual(written(events), ["message.created pending", "message.updated approved"])
    const statuses = events.flatMap(({ type, payload }) =>
      type === "session.updated" ? [(payload as { session: Session.Info }).session.status] : [],
    )
    assert.deepEqual([...new Set(statuses)], ["busy", "waiting", "idle"])
    assert.ok(statuses.indexOf("waiting") < statuses.lastIndexOf("busy"))
    assert.deepEqual(await Grant.list(), [])
    await assert.rejects(Permission.reply(request!.id, "once"), { name: "Permission.NotFound" })
  })
})

test('"always" stores exactly the shown rule, for the next call and the next prompt', async () => {
  const script = [use("a"), use("a"), text("one"), use("a"), use("ab"), text("two")]
  await inWorld(script, async ({ ask, session, messages }) => {
    const ran = needy()
    const first = ask("go")
    const [request] = await next()
    await Permission.reply(request!.id, "always")
    const [grant, ...others] = await Grant.list()
    const { permission, pattern, agent, scope, sessionId } = grant!
    assert.deepEqual({ permission, pattern, action: "allow" }, request!.needs[0]!.rules[0])
    assert.deepEqual([agent, scope, sessionId, others], ["build", "project", session.id, []])
    await first
    const second = ask("again")
    const [other] = await next()
    assert.equal(other!.needs[0]!.target, "ab")
    await Permission.reply(other!.id, "reject", { message: "use a" })
    await second
    assert.deepEqual(ran, ["a", "a", "a"])
    assert.equal(
      outputs(await messages()).at(-1),
      '"needy" was not run: the person rejected it and says: use a',
    )
    assert.deepEqual(approvals(await messages()).at(-1), "denied")
  })
})

test('the calls of one turn are asked about at once, and "always" also answers the others that it allows', async () => {
  await inWorld([calls([use("a"), use("b"), use("a")]), text("done")], async ({ ask, messages }) => {
    const ran = needy()
    const answered = ask("go")
    const requests = await next(3)
    assert.deepEqual(
      requests.map(({ needs }) => needs[0]!.target),
      ["a", "b", "a"],
    )
    await Permission.reply(requests[2]!.id, "always")
    const [left] = await next(1)
    assert.equal(left!.needs[0]!.target, "b")
    await Permission.reply(left!.id, "reject")
    await answered
    assert.deepEqual(ran, ["a", "a"])
    assert.deepEqual(approvals(await messages()), ["approved", "denied", "approved"])
  })
})

test("a prompt can set the time limit for answers", async () => {
  await inWorld([use("a"), text("done")], async ({ ask, messages }) => {
    needy()
    await ask("go", { replyLimit: 50 }, { reply: 3_600_000 })
    assert.deepEqual(outputs(await messages()), ['"needy" was not run: nobody answered within 0.05 s.'])
  })
})

test("a question that nobody answers in time rejects the call with that reason", async () => {
  await inWorld([use("a"), text("done")], async ({ ask, messages, events, status }) => {
    const ran = needy()
    await ask("go", {}, { reply: 50 })
    assert.deepEqual(ran, [])
    assert.deepEqual(outputs(await messages()), ['"needy" was not run: nobody answered within 0.05 s.'])
    assert.deepEqual(approvals(await messages()), ["denied"])
    const replied = events.find(({ type }) => type === "permission.replied")?.payload as { by: string }
    assert.equal(replied.by, "time")
    assert.equal(await status(), "idle")
  })
})

test("an aborted prompt withdraws its question", async () => {
  await inWorld([use("a")], async ({ ask, messages, session, status, events }) => {
    const ran = needy()
    const answered = ask("go")
    await next()
    Session.abort(session.id)
    await assert.rejects(answered, { name: "Session.Interrupted" })
    assert.deepEqual(Permission.pending(), [])
    assert.deepEqual(ran, [])
    assert.equal(await status(), "interrupted")
    assert.deepEqual(
      resultsOf(await messages()).map((result) => result.status),
      ["interrupted"],
    )
    const replied = events.find(({ type }) => type === "permission.replied")?.payload as { by: string }
    assert.equal(replied.by, "end")
    // Nobody decided, so the call is neither approved nor denied.
    await sleep(50)
    assert.deepEqual(approvals(await messages()), ["pending"])
  })
})

test('with asks "deny", the model is told the flag that would allow the call, and an event reports the denial', async () => {
  await inWorld([use("a"), text("done")], async ({ ask, messages, events }) => {
    const ran = needy()
    await ask("go", { asks: "deny" })
    assert.deepEqual(ran, [])
    assert.deepEqual(written(events), ["message.created denied"])
    assert.match(
      outputs(await messages())[0]!,
      /nobody can be asked here\. --allow "network\.fetch:a" or --yes would/,
    )
    assert.equal(events.filter(({ type }) => type === "permission.denied").length, 1)
    assert.equal(events.filter(({ type }) => type === "permission.requested").length, 0)
  })
})

test('asks "once" allows calls that would be asked about, but not denied ones and not the configuration of vitamin', async () => {
  await inWorld(
    [calls([use("src/a.ts"), use("src/b.ts"), use(".vitamin/config.jsonc")]), text("done")],
    async ({ ask, messages, events }) => {
      const ran = needy({ permission: "file.write" })
      await ask("go", { asks: "once", rules: [Permission.parseRule("file.write:src/b.ts", "deny")] })
      assert.deepEqual(ran, ["src/a.ts"])
      // A snapshot of the file that is written goes into the same message.
      assert.deepEqual(
        [...new Set(written(events).map((line) => line.split(" ")[1]))],
        ["approved,denied,denied"],
      )
      const [, denied, own] = outputs(await messages())
      assert.match(denied!, /denied by the rule "file\.write:src\/b\.ts" \(session\)/)
      assert.match(
        own!,
        /It would change what runs on this machine: --allow "file\.write:\.vitamin\/config\.jsonc" would allow it/,
      )
      assert.doesNotMatch(own!, /--yes/)
    },
  )
})

test("a call that a new rule denies during its question names that rule", async () => {
  await inWorld([use("a"), text("done")], async ({ ask, messages, tmp }) => {
    const ran = needy()
    const work = ask("go")
    const [{ id }] = (await next()) as [Permission.Request]
    const deny = { permission: "network.fetch", pattern: "a", action: "deny" }
    tmp.write("../config/vitamin/vitamin.jsonc", JSON.stringify({ permission: [deny] }))
    await Config.reload()
    await Permission.reply(id, "once")
    await work
    assert.deepEqual(ran, [])
    assert.match(outputs(await messages())[0]!, /is denied by the rule "network\.fetch:a" \(global\)/)
  })
})

test("a call whose preview throws fails without a question, and the turn continues", async () => {
  await inWorld([call("unseen", {}), text("done")], async ({ ask, messages, events }) => {
    Tool.define("unseen", () => ({
      description: "A tool of a test.",
      parameters: z.object({}),
      readOnly: false,
      permission: () => [{ permission: "network.fetch", target: "a" }],
      preview: () => {
        throw new Error("no preview")
      },
      execute: async () => "ran",
    }))
    assert.equal(textOf(await ask("go")), "done")
    const [result] = resultsOf(await messages())
    assert.equal(result?.status, "error")
    assert.match(String(result?.output), /no preview/)
    assert.equal(
      events.some(({ type }) => type === "permission.requested"),
      false,
    )
  })
})
