// Named branches over one pool of messages: created, switched, prompted, forked, reverted, exported and imported.
import assert from "node:assert/strict"
import { test } from "node:test"
import { ownOwner } from "#engine/record/session-info.ts"
import * as Session from "#engine/session/session.ts"
import * as Storage from "#kernel/storage/storage.ts"
import * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { call, calls, stall, text, wires } from "../../fixture/fake-llm.ts"
import { until } from "../../fixture/until.ts"
import { inWorld, shapeOf, textOf, type World } from "./harness.ts"

/** The texts of all messages of the last request. */
const said = ({ llm }: World) => llm.requests.at(-1)!.messages.map((message) => message.text)
const wordsOf = (messages: Message.Info[]) =>
  messages.flatMap((message) => (message.type === "text" ? [textOf(message)] : []))
const controlsOf = (messages: Message.Info[]) =>
  messages.flatMap((message) => (message.type === "system_control" ? [message.data] : []))

test("Session.branch() shares everything up to its message; then both branches continue separately", async () => {
  const answers = ["a1", "a2", "b1", "a3", "b2"].map((word) => text(word))
  await inWorld(answers, async (world) => {
    const { session, ask, messages } = world
    const first = await ask("q1")
    await ask("q2")
    const branched = await Session.branch(session.id, "try", { from: first.id })
    assert.equal(branched.branch, "try")
    assert.equal(branched.status, "idle")
    assert.deepEqual(wordsOf(await messages()), ["q1", "a1"])
    await ask("other")
    assert.deepEqual(said(world), ["q1", "a1", "other"])
    assert.deepEqual(wordsOf(await messages()), ["q1", "a1", "other", "b1"])

    await Session.switchBranch(session.id, "main")
    assert.deepEqual(wordsOf(await messages()), ["q1", "a1", "q2", "a2"])
    await ask("q3")
    assert.deepEqual(said(world), ["q1", "a1", "q2", "a2", "q3"])

    await Session.branch(session.id, "try")
    await ask("more")
    assert.deepEqual(said(world), ["q1", "a1", "other", "b1", "more"])
    assert.deepEqual(wordsOf(await Session.messages(session.id, { branch: "main" })).slice(-2), ["q3", "a3"])
    const all = await Session.messages(session.id, { all: true })
    assert.equal(wordsOf(all).length, 10)
  })
})

test("Session.branch() and switchBranch() record the old branch, the new branch and the message in the new branch", async () => {
  await inWorld([text("a1"), text("a2")], async ({ session, ask, messages, events }) => {
    const answer = await ask("q1")
    await Session.branch(session.id, "try")
    const [control] = controlsOf(await messages())
    assert.deepEqual(control, {
      control: "branch_switch",
      parameters: { from: "main", to: "try", at: answer.id },
    })
    const last = (await messages()).at(-1)!
    assert.deepEqual([last.branch, last.parentId], ["try", answer.id])
    await Session.switchBranch(session.id, "main")
    const back = controlsOf(await messages()).at(-1)!
    assert.deepEqual(back.parameters, { from: "try", to: "main", at: answer.id })
    const kept = events.filter(({ type }) => type === "message.created").length
    await Session.switchBranch(session.id, "main")
    await Session.branch(session.id, "main")
    assert.equal(events.filter(({ type }) => type === "message.created").length, kept)
  })
})

test("Session.branches() returns each branch with its tip, length and origin", async () => {
  await inWorld([text("a1"), text("a2"), text("b1")], async ({ session, ask, messages }) => {
    assert.deepEqual(await Session.branches(session.id), [
      { name: "main", active: true, tip: null, count: 0 },
    ])
    const first = await ask("q1")
    const second = await ask("q2")
    await Session.branch(session.id, "fix/one.2", { from: first.id })
    const tip = await ask("other")
    const [main, fix] = await Session.branches(session.id)
    assert.deepEqual(main, { name: "main", active: false, tip: second.id, count: 4 })
    const from = { branch: "main", messageId: first.id }
    assert.deepEqual(fix, { name: "fix/one.2", active: true, tip: tip.id, count: 5, from })
    assert.equal((await messages()).length, 5)
    await Session.branch(session.id, "third")
    await Session.switchBranch(session.id, "fix/one.2")
    const [, again, third] = await Session.branches(session.id)
    assert.deepEqual(again!.from, from)
    assert.deepEqual(third!.from, { branch: "fix/one.2", messageId: tip.id })
  })
})

test("a branch of a session without messages is empty and takes a prompt; main is still there", async () => {
  await inWorld([text("b1"), text("a1")], async (world) => {
    const { session, ask, messages } = world
    await Session.branch(session.id, "try")
    assert.deepEqual(shapeOf(await messages()), ["system_control"])
    await ask("q")
    await Session.switchBranch(session.id, "main")
    assert.deepEqual(wordsOf(await messages()), [])
    await ask("other")
    assert.deepEqual(said(world), ["other"])
    assert.deepEqual(
      (await Session.branches(session.id)).map(({ name, from }) => [name, from]),
      [
        ["main", undefined],
        ["try", undefined],
      ],
    )
  })
})

test("Session.branch() from null begins before the first message", async () => {
  await inWorld([text("a1"), text("b1")], async (world) => {
    const { session, ask, messages } = world
    await ask("q")
    await Session.branch(session.id, "anew", { from: null })
    assert.deepEqual(shapeOf(await messages()), ["system_control"])
    await ask("other")
    assert.deepEqual(said(world), ["other"])
    await Session.switchBranch(session.id, "main")
    assert.deepEqual(wordsOf(await messages()), ["q", "a1"])
  })
})

test("a branch made in the middle of an exchange takes a prompt", async () => {
  const both = calls([call("ls"), call("read", { path: "none" })])
  await inWorld([both, text("one"), text("other")], async (world) => {
    const { session, ask, messages } = world
    await ask("first")
    const request = (await messages()).find(({ type }) => type === "tool_request")!
    await Session.branch(session.id, "try", { from: request.id })
    assert.equal(textOf(await ask("go on")), "other")
    assert.equal(said(world).at(-1), "go on")
    const results = (await messages()).filter(({ type }) => type === "tool_result")
    assert.deepEqual(
      results.map(({ branch }) => branch),
      ["try", "try"],
    )
  })
})

for (const name of ["", " ", "a b", "a\nb", "\u001b[2J", "-x", ".x", "/x", "x/", "a//b", "ü", "x".repeat(65)])
  test(`Session.branch() refuses the name ${JSON.stringify(name)}, and nothing is changed`, async () => {
    await inWorld([], async ({ session, messages }) => {
      await assert.rejects(Session.branch(session.id, name), { name: "Session.InvalidBranch" })
      await assert.rejects(Session.switchBranch(session.id, name), { name: "Session.InvalidBranch" })
      assert.deepEqual(await Session.get(session.id), session)
      assert.deepEqual(await messages(), [])
    })
  })

test("branches can have the names of object properties, such as __proto__", async () => {
  await inWorld([], async ({ session }) => {
    for (const name of ["__proto__", "constructor", "x".repeat(64)]) await Session.branch(session.id, name)
    assert.equal((await Session.branches(session.id)).length, 4)
  })
})

test("an unknown branch, an unknown message and a used name are errors", async () => {
  await inWorld([text("a1")], async ({ session, ask }) => {
    const answer = await ask("q1")
    await assert.rejects(Session.switchBranch(session.id, "none"), {
      name: "Session.BranchNotFound",
      message: `Session ${session.id} has no branch "none". Available: main`,
    })
    await assert.rejects(Session.messages(session.id, { branch: "none" }), { name: "Session.BranchNotFound" })
    await assert.rejects(Session.branch(session.id, "try", { from: "msg_none" }), {
      name: "Session.MessageNotFound",
      message: `Message msg_none is not in session ${session.id}.`,
    })
    await assert.rejects(Session.branch(session.id, "main", { from: answer.id }), {
      name: "Session.BranchExists",
    })
    await assert.rejects(Session.branch("sess_none", "try"), { name: "Session.NotFound" })
    const { status, branch } = await Session.get(session.id)
    assert.deepEqual([status, branch], ["idle", "main"])
    assert.equal((await MessageStore.list(session.id)).length, 2)
  })
})

test("a busy session cannot be branched, in this process or another", async () => {
  const long = stall(text("0123456789".repeat(20), { deltas: 20, delay: 5 }), 3_000)
  await inWorld([text("a1"), long], async ({ session, ask, llm }) => {
    await ask("q0")
    const work = ask("q1", {}, { stall: 60_000 })
    work.catch(() => {})
    await until(() => llm.requests.length === 2)
    await assert.rejects(Session.branch(session.id, "try"), { name: "Session.Busy" })
    await assert.rejects(Session.switchBranch(session.id, "main"), { name: "Session.Busy" })
    await assert.rejects(Session.setMode(session.id, "plan"), { name: "Session.Busy" })
    Session.abort(session.id)
    await assert.rejects(work)
    const owner = { ...ownOwner(), directory: "/elsewhere" }
    const key = ["session", session.projectId, session.id]
    await Storage.update<Session.Info>(key, (draft) => Object.assign(draft, { status: "busy", owner }))
    await assert.rejects(Session.branch(session.id, "try"), { name: "Session.Busy", message: /elsewhere/ })
    await assert.rejects(Session.setMode(session.id, "plan"), { name: "Session.Busy" })
    assert.equal((await Session.branches(session.id)).length, 1)
  })
})

test("a change of branch or mode does not change the status and the error of a session", async () => {
  await inWorld([], async ({ session, ask }) => {
    await assert.rejects(ask("q"))
    const { status, error } = await Session.get(session.id)
    assert.equal(status, "error")
    await Session.branch(session.id, "try")
    await Session.setMode(session.id, "plan")
    const after = await Session.get(session.id)
    assert.deepEqual([after.status, after.error, after.owner], [status, error, undefined])
  })
})

test("Session.fork() of a branched session copies the active branch as main", async () => {
  await inWorld([text("a1"), text("a2"), text("b1"), text("c1")], async (world) => {
    const { session, ask } = world
    const first = await ask("q1")
    const second = await ask("q2")
    await Session.branch(session.id, "try", { from: first.id })
    await ask("other")
    const fork = await Session.fork(session.id)
    assert.equal(fork.branch, "main")
    assert.deepEqual(wordsOf(await Session.messages(fork.id)), ["q1", "a1", "other", "b1"])
    assert.deepEqual(
      (await Session.branches(fork.id)).map(({ name }) => name),
      ["main"],
    )
    await ask("go", { sessionId: fork.id })
    assert.deepEqual(said(world), ["q1", "a1", "other", "b1", "go"])
    await assert.rejects(Session.fork(session.id, second.id), { name: "Session.MessageNotFound" })
  })
})

test("Session.revert() on a branch reverts that branch and no other", async () => {
  await inWorld([text("a1"), text("a2"), text("b1"), text("b2"), text("b3")], async (world) => {
    const { session, ask, messages } = world
    const first = await ask("q1")
    await ask("q2")
    const ofMain = await messages()
    await Session.branch(session.id, "try", { from: first.id })
    await ask("other")
    const before = await messages()
    const back = await Session.revert(session.id, before.at(-2)!.id)
    assert.deepEqual(wordsOf(await messages()), ["q1", "a1"])
    await ask("another")
    assert.deepEqual(said(world), ["q1", "a1", "another"])
    // Reverts the revert, then reverts to a message before the branch was created.
    await Session.revert(session.id, back.messageId!)
    assert.deepEqual(wordsOf(await messages()), ["q1", "a1", "other", "b1"])
    await Session.revert(session.id, ofMain[0]!.id)
    assert.deepEqual(wordsOf(await messages()), [])
    await ask("afresh")
    assert.deepEqual(said(world), ["afresh"])
    assert.deepEqual(wordsOf(await Session.messages(session.id, { branch: "main" })), [
      "q1",
      "a1",
      "q2",
      "a2",
    ])
    await assert.rejects(Session.revert(session.id, ofMain.at(-1)!.id), { name: "Session.MessageNotFound" })
    const [, branch] = await Session.branches(session.id)
    assert.deepEqual(branch!.from, { branch: "main", messageId: first.id })
  })
})

test("an exported session is imported with all its branches, and continues in each", async () => {
  await inWorld([text("a1"), text("b1"), text("b2"), text("a2")], async (world) => {
    const { session, ask } = world
    const first = await ask("q1")
    await Session.branch(session.id, "try", { from: first.id })
    await ask("other")
    const before = await Session.branches(session.id)
    const exported = JSON.parse(JSON.stringify(await Session.export(session.id)))
    await Session.remove(session.id)
    assert.deepEqual(await MessageStore.list(session.id), [])
    await Session.import(exported)
    assert.deepEqual(await Session.branches(session.id), before)
    await ask("more")
    assert.deepEqual(said(world), ["q1", "a1", "other", "b1", "more"])
    await Session.switchBranch(session.id, "main")
    await ask("q2")
    assert.deepEqual(said(world), ["q1", "a1", "q2"])
  })
})

test("Session.import() refuses impossible branches, and shows another one if the active one is empty", async () => {
  await inWorld([text("a1")], async ({ session, ask }) => {
    await ask("q1")
    const exported = JSON.parse(JSON.stringify(await Session.export(session.id)))
    const bad = structuredClone(exported)
    bad.messages[1].branch = "a\u001b[2Jb"
    await assert.rejects(Session.import(bad), { name: "Session.InvalidImport" })
    const lost = { ...exported, session: { ...exported.session, branch: "gone" } }
    const { id, branch } = await Session.import(lost)
    assert.equal(branch, "main")
    assert.deepEqual(wordsOf(await Session.messages(id)), ["q1", "a1"])
  })
})

test("a branch is in order even if the clock went back between its messages", async (t) => {
  await inWorld([text("a1"), text("b1"), text("b2"), text("a2")], async (world) => {
    const { session, ask, messages } = world
    const first = await ask("q1")
    const real = Date.now
    t.mock.method(Date, "now", () => real() - 3_600_000)
    await Session.branch(session.id, "try", { from: first.id })
    await ask("other")
    t.mock.restoreAll()
    await ask("more")
    assert.deepEqual(said(world), ["q1", "a1", "other", "b1", "more"])
    t.mock.method(Date, "now", () => real() - 7_200_000)
    await Session.switchBranch(session.id, "main")
    await ask("q2")
    t.mock.restoreAll()
    assert.deepEqual(said(world), ["q1", "a1", "q2"])
    await Session.switchBranch(session.id, "try")
    assert.deepEqual(wordsOf(await messages()), ["q1", "a1", "other", "b1", "more", "b2"])
    assert.deepEqual((await Session.branches(session.id)).find(({ name }) => name === "try")!.from, {
      branch: "main",
      messageId: first.id,
    })
  })
})

for (const wire of wires)
  test(`control messages never reach the model, over ${wire}`, async () => {
    const answers = [call("ls"), text("a1"), text("b1"), text("b2"), text("a2")]
    await inWorld(
      answers,
      async ({ session, ask, llm }) => {
        const first = await ask("q1")
        await Session.branch(session.id, "secret-branch", { from: first.id })
        await ask("q2")
        await Session.setMode(session.id, "plan")
        await Session.setMode(session.id, "act")
        const asked = await ask("q3")
        await Session.revert(session.id, asked.id)
        const place = { sessionId: session.id, parentId: asked.parentId, branch: "secret-branch" }
        const data = { control: "from_the_future", parameters: { note: "secret-note" } }
        await MessageStore.write(Message.make({ ...place, type: "system_control", data }))
        await Session.switchBranch(session.id, "main")
        await ask("q4")
        const all = await Session.messages(session.id, { all: true })
        const controls = all.filter(({ type }) => type === "system_control")
        assert.equal(controls.length, 6)
        const sent = llm.requests.map(({ body }) => JSON.stringify(body)).join("\n")
        assert.match(sent, /q4/)
        assert.doesNotMatch(sent, /system_control|mode_change|branch_switch|revert"|from_the_future/)
        assert.doesNotMatch(sent, /secret-branch|secret-note/)
        for (const { id } of controls) assert.ok(!sent.includes(id))
        const heads = new Set(llm.requests.map(({ system }) => system))
        assert.equal(heads.size, 1)
      },
      { wire },
    )
  })

test("the system prompt follows the mode, in tasks too, and is unchanged in act mode", async () => {
  const script = [text("a1"), call("subtask", { task: "look" }), text("done"), text("plan"), text("a2")]
  await inWorld(script, async ({ session, ask, llm }) => {
    await ask("q1")
    await Session.setMode(session.id, "plan")
    await ask("q2", { asks: "once" })
    await Session.setMode(session.id, "act")
    await ask("q3")
    const heads = llm.requests.map(({ system }) => system)
    const isPlan = heads.map((head) => /Plan mode: /.test(head))
    assert.deepEqual(isPlan, [false, true, true, true, false])
    assert.equal(heads[0], heads[4])
    assert.ok(heads[1]!.startsWith(heads[0]!))
  })
})
