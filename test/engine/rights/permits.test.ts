// Permissions in the loop: the approval in the message of a call, which calls rules and modes decide, and what the model
// is told.
import assert from "node:assert/strict"
import { rmSync, symlinkSync } from "node:fs"
import { dirname, join } from "node:path"
import { test } from "node:test"
import { z } from "zod"
import * as Permission from "#ability/permission/permission.ts"
import * as Tool from "#ability/tool/tool.ts"
import * as Session from "#engine/session/session.ts"
import * as Config from "#kernel/config/config.ts"
import * as Trust from "#kernel/trust/trust.ts"
import { call, calls, text } from "../../fixture/fake-llm.ts"
import { inWorld, textOf } from "../session/harness.ts"
import { approvals, needy, next, outputs, use, written } from "../session/needy.ts"

test("an allowed call is stored once, with its approval", async () => {
  await inWorld([use("a"), text("done")], async ({ ask, messages, events }) => {
    const ran = needy()
    await ask("go", { rules: [Permission.parseRule("network.fetch:a")] })
    assert.deepEqual(ran, ["a"])
    assert.deepEqual(written(events), ["message.created approved"])
    assert.deepEqual(approvals(await messages()), ["approved"])
  })
})

test("a denied call does not run, and its result names the rule and its layer", async () => {
  const permission = [{ permission: "network.fetch", pattern: "a*", action: "deny" }]
  await inWorld(
    [use("abc"), text("done")],
    async ({ ask, messages, events, llm }) => {
      const ran = needy()
      assert.equal(textOf(await ask("go")), "done")
      assert.deepEqual(ran, [])
      assert.deepEqual(written(events), ["message.created denied"])
      const says =
        '"needy" was not run: network.fetch of "abc" is denied by the rule "network.fetch:a*" (environment).'
      assert.deepEqual(outputs(await messages()), [says])
      assert.match(JSON.stringify(llm.requests[1]!.body), /is denied by the rule/)
    },
    { config: { permission } },
  )
})

test("a link is judged by its target, and the tool gets the allowed paths outside the work tree", async () => {
  await inWorld(
    [calls([use("link/x"), use("plain")]), text("one"), use("link/x"), text("two")],
    async ({ ask, messages, tmp }) => {
      const ran = needy({ permission: "file.read", readOnly: true })
      tmp.write("plain", "")
      tmp.write("../outside/x", "")
      const outside = join(dirname(tmp.path), "outside", "x")
      symlinkSync(dirname(outside), join(tmp.path, "link"))
      await ask("go", { asks: "deny" })
      assert.deepEqual(ran, ["plain"])
      assert.deepEqual(approvals(await messages()), ["denied", "approved"])
      await ask("again", { asks: "deny", rules: [Permission.parseRule(`file.read:${dirname(outside)}/**`)] })
      assert.equal(outputs(await messages()).at(-1), `ran link/x with ${outside}`)
    },
  )
})

test("the target of a link is judged again when the call runs, and again after a question", async () => {
  await inWorld([calls([use("a"), use("link")]), text("done")], async ({ ask, messages, tmp }) => {
    const ran = needy({ permission: "file.write" })
    const own = tmp.write(".vitamin/b", "")
    const link = join(tmp.path, "link")
    const answered = ask("go")
    const [first, second] = await next(2)
    await Permission.reply(second!.id, "once")
    symlinkSync(own, link)
    await Permission.reply(first!.id, "once")
    const [again] = await next()
    assert.deepEqual(
      again!.needs.map(({ target }) => target),
      ["link", ".vitamin/b"],
    )
    rmSync(link)
    symlinkSync(tmp.write("c", ""), link)
    await Permission.reply(again!.id, "once")
    await answered
    assert.deepEqual(ran, ["a"])
    assert.match(
      outputs(await messages())[1]!,
      /its real paths or the rules changed while the person was asked/,
    )
    assert.deepEqual(approvals(await messages()), ["approved", "denied"])
  })
})

test("a person's reply grants the tool the asked origin; --yes and a rule with a star do not", async () => {
  const url = "http://127.0.0.1:1/x"
  const script = () => [use(url), text("done")]
  await inWorld([...script(), ...script(), ...script()], async ({ ask, messages }) => {
    needy()
    await ask("one", { asks: "once" })
    await ask("two", { rules: [Permission.parseRule("network.fetch:*")] })
    const third = ask("three")
    await Permission.reply((await next())[0]!.id, "once")
    await third
    const plain = `ran ${url}`
    assert.deepEqual(outputs(await messages()), [plain, plain, `${plain} with http://127.0.0.1:1`])
  })
})

test("plan mode denies calls that change something, whatever is allowed, until the mode is act again", async () => {
  const script = [use("a.txt"), text("one"), use("a.txt"), text("two")]
  await inWorld(script, async ({ ask, session, messages, llm }) => {
    const ran = needy({ permission: "file.write" })
    const rules = [Permission.parseRule("file.write:a.txt"), Permission.parseRule("*")]
    await Session.setMode(session.id, "plan")
    await ask("go", { asks: "once", rules })
    assert.deepEqual(ran, [])
    assert.match(outputs(await messages())[0]!, /denied by the rule "file\.write:\*" \(plan mode\)/)
    await Session.setMode(session.id, "act")
    await ask("again", { rules })
    assert.deepEqual(ran, ["a.txt"])
    const controls = (await messages()).flatMap((message) =>
      message.type === "system_control" ? [message.data] : [],
    )
    assert.deepEqual(controls, [
      { control: "mode_change", parameters: { from: "act", to: "plan" } },
      { control: "mode_change", parameters: { from: "plan", to: "act" } },
    ])
    assert.doesNotMatch(JSON.stringify(llm.requests.map(({ body }) => body)), /mode_change/)
  })
})

test("plan mode also denies a tool with a permission of its own", async () => {
  await inWorld([use("x"), text("done")], async ({ ask, session, messages }) => {
    const ran = needy({ permission: "deploy.run" })
    await Session.setMode(session.id, "plan")
    await ask("go", { asks: "once" })
    assert.deepEqual(ran, [])
    assert.match(outputs(await messages())[0]!, /plan mode/)
  })
})

test("Session.setMode() is refused while the session is busy", async () => {
  await inWorld([use("x"), text("done")], async ({ ask, session }) => {
    needy()
    const answered = ask("go")
    const [request] = await next()
    await assert.rejects(Session.setMode(session.id, "plan"), { name: "Session.Busy" })
    await Permission.reply(request!.id, "once")
    await answered
    assert.equal((await Session.setMode(session.id, "plan")).mode, "plan")
  })
})

test("a rule that names no permission ends the prompt before it costs anything", async () => {
  await inWorld([text("never")], async ({ ask, llm }) => {
    const rules = [{ permission: "bash.exec", pattern: "*", action: "deny" as const }]
    await assert.rejects(ask("go", { rules }), {
      name: "Permission.InvalidRule",
      message: /"bash\.exec" does not exist; did you mean "bash\.execute"\?/,
    })
    assert.equal(llm.requests.length, 0)
  })
})

test("a tool without a permission function must be allowed by its name, unless it is read-only", async () => {
  await inWorld([calls([call("silent"), call("reading")]), text("done")], async ({ ask, messages }) => {
    for (const [id, readOnly] of [
      ["silent", false],
      ["reading", true],
    ] as const)
      Tool.define(id, () => ({
        description: "",
        parameters: z.object({}),
        readOnly,
        execute: async () => "ran",
      }))
    await ask("go", { asks: "deny" })
    const [silent, reading] = outputs(await messages())
    assert.match(silent!, /tool\.execute of "silent" needs a person's permission/)
    assert.equal(reading, "ran")
  })
})

test("a task has the flags of its parent prompt, and no more rights than that prompt", async () => {
  const script = [
    call("subtask", { task: "do it" }),
    calls([use("a"), use("b")]),
    text("child"),
    text("done"),
  ]
  await inWorld(script, async ({ ask }) => {
    const ran = needy()
    const rules = ["agent.delegate", "network.fetch:*"].map((rule) => Permission.parseRule(rule))
    await ask("go", { asks: "deny", rules: [...rules, Permission.parseRule("network.fetch:b", "deny")] })
    assert.deepEqual(ran, ["a"])
  })
})

test("a denial for all projects stays in force in a trusted project that allows it", async () => {
  const allow = { permission: "network.fetch", pattern: "*", action: "allow" }
  await inWorld([use("a"), text("done")], async ({ ask, messages, tmp }) => {
    const ran = needy()
    await Trust.grant(tmp.path)
    tmp.write(".vitamin/config.jsonc", JSON.stringify({ permission: [allow] }))
    tmp.write(
      "../config/vitamin/vitamin.jsonc",
      JSON.stringify({ permission: [{ ...allow, action: "deny" }] }),
    )
    await Config.reload()
    await ask("go")
    assert.deepEqual(ran, [])
    assert.match(outputs(await messages())[0]!, /denied by the rule "network\.fetch:\*" \(global\)/)
    tmp.write("../config/vitamin/vitamin.jsonc", "{}")
    await Config.reload()
  })
})
