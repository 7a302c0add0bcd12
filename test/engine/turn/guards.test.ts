// Guards in the loop: where their state comes from, and in which order they see what happens.
import assert from "node:assert/strict"
import { test } from "node:test"
import * as Permission from "#ability/permission/permission.ts"
import { Blocked } from "#engine/record/notice.ts"
import * as Session from "#engine/session/session.ts"
import * as Bus from "#kernel/bus/bus.ts"
import type * as Message from "#knowledge/message/message.ts"
import { call, calls, type Reply, text } from "../../fixture/fake-llm.ts"
import { inWorld, resultsOf, textOf, type World } from "../session/harness.ts"

const asks = "once" as const
const tested = { "tests-before-answer": { command: "true" } }
const write = (path = "a.txt") => call("write", { path, content: "x\n" })
const runTests = call("bash", { command: "true" })

function withGuards(guards: object, script: Reply[], fn: (world: World) => Promise<unknown>): Promise<void> {
  return inWorld(script, fn, { config: { guards }, git: true })
}

function blockedIn({ events }: World): string[] {
  return events.flatMap(({ type, payload }) => {
    if (type !== Blocked.type) return []
    const { action, guard } = payload as { action: string; guard: string }
    return [`${guard}: ${action}`]
  })
}

test("a guard that holds back three answers in a row ends the turn with an error", async () => {
  await withGuards(tested, [write(), text("1"), text("2"), text("3"), text("never")], async (world) => {
    await assert.rejects(world.ask("go", { asks }), {
      name: "Guard.Held",
      message: /The guard "tests-before-answer" blocks it: .* held back 3 times in a row/,
    })
    assert.equal(world.llm.requests.length, 4)
    assert.equal(await world.status(), "error")
  })
})

test("a call between held answers lets the model go on", async () => {
  const script = [write(), text("1"), text("2"), call("ls"), text("3"), text("4"), runTests, text("done")]
  await withGuards(tested, script, async (world) => {
    assert.equal(textOf(await world.ask("go", { asks })), "done")
    assert.equal(blockedIn(world).length, 4)
  })
})

test("guards that block everything end the turn, and the next prompt can be sent", async () => {
  const guards = { nothing: { block: ["*", "answer"], because: "nothing is allowed" } }
  const script = [call("ls"), text("1"), text("2"), text("3"), text("4"), text("5"), text("6")]
  await withGuards(guards, script, async (world) => {
    await assert.rejects(world.ask("go"), { name: "Guard.Held" })
    await assert.rejects(world.ask("again"), { name: "Guard.Held" })
    assert.deepEqual(blockedIn(world)[0], "nothing: ls")
  })
})

test("a branch before an edit is not held back, and the branch with the edit still is", async () => {
  const script = [text("hello"), write(), text("1"), runTests, text("2"), text("3"), write("b.txt")]
  await withGuards(tested, [...script, text("4"), runTests, text("5")], async (world) => {
    const { id } = world.session
    await world.ask("hi", { asks })
    const from = (await world.messages()).at(-1)!.id
    await world.ask("edit", { asks })
    await Session.branch(id, "other", { from })
    assert.equal(textOf(await world.ask("talk", { asks })), "3")
    assert.equal(blockedIn(world).length, 1)
    await Session.switchBranch(id, "main")
    assert.equal(textOf(await world.ask("edit again", { asks })), "5")
    assert.equal(blockedIn(world).length, 2)
  })
})

/** An edit, and a turn that is stopped by the guard: whoever goes on from here is held back until the tests pass. */
const edited = [write(), text("1"), text("2"), text("3")]
async function leaveEdited({ ask }: World): Promise<void> {
  await assert.rejects(ask("edit", { asks }), { name: "Guard.Held" })
}
const then = [text("4"), runTests, text("done")]

for (const [what, move] of [
  ["a fork", async ({ session }: World) => (await Session.fork(session.id)).id],
  ["an import", async ({ session }: World) => (await Session.import(await Session.export(session.id))).id],
] as const)
  test(`${what} of a session is held back like the session`, async () => {
    await withGuards(tested, [...edited, ...then], async (world) => {
      await leaveEdited(world)
      const sessionId = await move(world)
      assert.equal(textOf(await world.ask("go on", { sessionId, asks })), "done")
      assert.equal(blockedIn(world).length, 4)
    })
  })

test("an edit that is reverted no longer counts", async () => {
  await withGuards(tested, [...edited, text("fine")], async (world) => {
    await leaveEdited(world)
    await Session.revert(world.session.id, (await world.messages())[0]!.id)
    assert.equal(textOf(await world.ask("talk", { asks })), "fine")
  })
})

test("a compaction keeps the state of the guards", async () => {
  // Anything but the final answer is allowed, so that the turns between end by the step limit.
  const looks = Array.from({ length: 12 }, () => call("grep", { pattern: "word" }))
  const script = [...edited, ...looks, text("The summary."), ...then]
  await withGuards(tested, script, async (world) => {
    world.tmp.write("words.txt", "many words on a line\n".repeat(500))
    await leaveEdited(world)
    for (let i = 0; i < 4; i++)
      await assert.rejects(world.ask(`look ${i}`, { asks, maxSteps: 3 }), { name: /StepLimit|Looping/ })
    await Session.compact(world.session.id)
    const all = await world.messages()
    assert.ok(all.some(({ type, data }) => type === "system_control" && data.control === "compaction"))
    assert.equal(textOf(await world.ask("go on", { asks })), "done")
    assert.equal(blockedIn(world).length, 4)
  })
})

test("parallel calls are offered in their order, also after a call with invalid arguments", async () => {
  const guards = { one: { when: "read", block: "read", until: "prompt", because: "one read a prompt" } }
  const reads = ["a.txt", "b.txt", "c.txt"].map((path) => call("read", { path }))
  // The first call is never offered, and the others must not wait for it.
  await withGuards(guards, [calls([call("read"), ...reads]), text("done")], async (world) => {
    for (const name of ["a", "b", "c"]) world.tmp.write(`${name}.txt`, `${name}\n`)
    await world.ask("read")
    const results = resultsOf(await world.messages())
    assert.deepEqual(
      results.map(({ status }) => status),
      ["error", "success", "error", "error"],
    )
    const [first] = results
    const { offered } = first!.metadata!.guards as { offered: { call: string; by?: unknown }[] }
    assert.deepEqual(
      offered.map(({ by }) => Boolean(by)),
      [false, true, true],
    )
  })
})

test("a guard for each path names the paths once", async () => {
  const each = {
    each: "path",
    when: "write.done",
    block: "answer",
    until: "read.done",
    because: "not read again",
  }
  const read = (path: string) => call("read", { path })
  const script = [
    write("a.txt"),
    write("b.txt"),
    text("1"),
    read("a.txt"),
    text("2"),
    read("b.txt"),
    text("done"),
  ]
  await withGuards({ each }, script, async (world) => {
    await world.ask("go", { asks })
    const reasons = world.events.flatMap(({ type, payload }) =>
      type === Blocked.type ? [(payload as { reason: string }).reason] : [],
    )
    assert.deepEqual(
      reasons.map((reason) => /\(.*?\)/.exec(reason)?.[0]),
      ["(a.txt, b.txt)", "(b.txt)"],
    )
  })
})

test("an edit by a task holds back the answer of its parent, until the task or the parent has run the tests", async () => {
  const guards = {
    tests: { when: "write.done", block: "answer", until: "bash.done:true", because: "no tests" },
  }
  const script = [call("subtask", { task: "edit" }), write(), text("a"), text("b"), text("c")]
  const rest = [text("parent 1"), runTests, text("parent 2")]
  await withGuards(guards, [...script, ...rest], async (world) => {
    assert.equal(textOf(await world.ask("go", { asks })), "parent 2")
    assert.deepEqual(blockedIn(world), Array(4).fill("tests: answer"))
  })
  await withGuards(
    guards,
    [call("subtask", { task: "edit" }), write(), runTests, text("a"), text("b")],
    async (world) => {
      assert.equal(textOf(await world.ask("go", { asks })), "b")
      assert.deepEqual(blockedIn(world), [])
    },
  )
})

test("a task sends nothing after its parent has read a secret, and is not held back for the edits of its parent", async () => {
  const guards = { "no-network-after-secret": {}, ...tested }
  const send = call("bash", { command: "curl -s http://127.0.0.1:9/" })
  const task = (name: string) => call("subtask", { task: name })
  const script = [
    ...[write(".env"), task("before"), send, text("sent")],
    ...[call("read", { path: ".env" }), task("after"), task("below"), send, text("no")],
    ...[text("no"), runTests, text("done")],
  ]
  await withGuards(guards, script, async (world) => {
    assert.equal(textOf(await world.ask("go", { asks })), "done")
    assert.deepEqual(blockedIn(world), ["no-network-after-secret: bash"])
  })
})

test("a guard that waits for approve asks a person, and each yes counts once", async () => {
  const deploy = call("bash", { command: "echo deploy" })
  const guards = { "approve-deploy": { command: "echo deploy" } }
  const rules = [{ permission: "bash.execute", pattern: "*", action: "allow" as const }]
  await withGuards(guards, [deploy, deploy, text("done")], async (world) => {
    const titles: string[] = []
    const replies: Permission.Reply[] = ["once", "reject"]
    Bus.subscribe(Permission.Requested, ({ id, title }) => {
      titles.push(title)
      void Permission.reply(id, replies.shift()!)
    })
    await world.ask("go", { rules })
    assert.deepEqual(titles, Array(2).fill("A person must approve each deploy. Allow bash?"))
    const results = resultsOf(await world.messages())
    assert.deepEqual(
      results.map(({ status }) => status),
      ["success", "error"],
    )
    assert.match(String(results[1]!.output), /Only a person can approve it, and nobody did/)
  })
})

test("a person is not asked for permission for a call that a guard blocks", async () => {
  const guards = { late: { block: "write", because: "it is late" } }
  await withGuards(guards, [write(), text("done")], async (world) => {
    let questions = 0
    Bus.subscribe(Permission.Requested, () => void questions++)
    await world.ask("go")
    assert.equal(questions, 0)
  })
})

test("a guard blocks a change of the mode", async () => {
  const guards = {
    "no-act": { when: "start", block: "mode:act", until: "todo.done", because: "there is no plan" },
  }
  const todo = call("todo", { todos: [{ text: "one", status: "pending" }] })
  await withGuards(guards, [todo, text("planned")], async (world) => {
    const { id } = world.session
    await Session.setMode(id, "plan")
    await assert.rejects(Session.setMode(id, "act"), { name: "Guard.Denied", message: /there is no plan/ })
    assert.equal((await Session.get(id)).mode, "plan")
    await world.ask("plan")
    assert.equal((await Session.setMode(id, "act")).mode, "act")
    assert.deepEqual(blockedIn(world), ["no-act: mode"])
  })
})

test("a guard that is added later sees what has happened before", async () => {
  await withGuards({}, [write(), text("1"), text("2"), text("3"), text("4")], async (world) => {
    await world.ask("edit", { asks })
    process.env.VITAMIN_CONFIG = JSON.stringify({
      ...JSON.parse(process.env.VITAMIN_CONFIG!),
      guards: tested,
    })
    const Config = await import("#kernel/config/config.ts")
    await Config.reload()
    await assert.rejects(world.ask("talk", { asks }), { name: "Guard.Held" })
  })
})

test("the messages of a session without guards keep nothing for guards", async () => {
  await withGuards({}, [write(), text("1")], async (world) => {
    await world.ask("edit", { asks })
    const kept = (message: Message.Info) => message.type === "tool_result" && message.data.metadata?.guards
    assert.equal((await world.messages()).some(kept), false)
  })
})
