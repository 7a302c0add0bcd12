// Undo from end to end: the model changes files, a person reverts that, and reverts the revert.
import assert from "node:assert/strict"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import * as Snapshot from "#ability/snapshot/snapshot.ts"
import * as Session from "#engine/session/session.ts"
import { call, calls, text } from "../../fixture/fake-llm.ts"
import { inWorld, shapeOf, type World } from "./harness.ts"

const script = [
  call("write", { path: "a.txt", content: "one\n" }),
  text("Written."),
  calls([
    call("edit", { path: "a.txt", edits: [{ oldText: "one", newText: "two" }] }),
    call("bash", { command: "echo three >> a.txt; mkdir sub; echo b > sub/b.txt" }),
  ]),
  text("Changed."),
  text("Hello."),
  text("Again."),
]

test("Session.revert() restores files and conversation to a message, and can itself be reverted", () =>
  inWorld(script, async (world) => {
    const { session, messages, llm, ask } = world
    const second = await twoPrompts(world)
    const before = await messages()
    const reverted = await Session.revert(session.id, second.id)
    assert.deepEqual(reverted.restored, ["a.txt"])
    assert.deepEqual(reverted.removed, ["sub/b.txt"])
    assert.equal(read(world, "a.txt"), "one\n")
    assert.equal(existsSync(join(world.tmp.path, "sub")), false)
    assert.deepEqual(shapeOf(await messages()), [...shapeOf(before).slice(0, 4), "system_control"])
    await ask("Hi")
    const sent = llm.requests.at(-1)!.messages.map((message) => message.text)
    assert.ok(!sent.includes("Change it"), sent.join("|"))
    await Session.revert(session.id, reverted.messageId!)
    assert.equal(read(world, "a.txt"), "two\nthree\n")
    assert.equal(read(world, "sub/b.txt"), "b\n")
    assert.deepEqual(shapeOf(await messages()), [...shapeOf(before), "system_control"])
    assert.equal((await Session.get(session.id)).status, "idle")
    await ask("And now?")
    assert.ok(llm.requests.at(-1)!.messages.some((message) => message.text === "Change it"))
  }))

test("every call that changes files has a snapshot in its message, with the content before and after", () =>
  inWorld(script, async (world) => {
    await twoPrompts(world)
    const found = (await world.messages()).flatMap((message) =>
      message.type === "tool_request"
        ? message.data.calls.map(({ snapshot }) => Snapshot.Part.parse(snapshot))
        : [],
    )
    assert.deepEqual(
      found.map(({ tool, done, files }) => [tool, done, files.map(({ path }) => path)]),
      [
        ["write", true, ["a.txt"]],
        ["edit", true, ["a.txt"]],
        ["bash", true, ["a.txt", "sub/b.txt"]],
      ],
    )
    assert.equal(found[0]!.files[0]!.before, null)
    const types = world.events.filter(({ type }) => type === "snapshot.created")
    assert.equal(types.length, 3)
  }))

test("Session.revert() refuses files that the person changed since, and unknown messages", () =>
  inWorld(script, async (world) => {
    const { session, tmp } = world
    const second = await twoPrompts(world)
    tmp.write("a.txt", "by hand\n")
    await assert.rejects(Session.revert(session.id, second.id), { name: "Snapshot.Conflict" })
    await assert.rejects(Session.revert(session.id, "msg_none"), { name: "Session.MessageNotFound" })
    await assert.rejects(Session.revert("sess_none", second.id), { name: /NotFound/ } as never)
    const { conflicts } = await Session.revert(session.id, second.id, { preview: true })
    assert.deepEqual(
      conflicts.map(({ path }) => path),
      ["a.txt"],
    )
    assert.equal(read(world, "a.txt"), "by hand\n")
    await Session.revert(session.id, second.id, { force: true })
    assert.equal(read(world, "a.txt"), "one\n")
  }))

test("Session.diff() shows what a session changed, and what it changed since a message", () =>
  inWorld(script, async (world) => {
    const second = await twoPrompts(world)
    const { text: all } = await Session.diff(world.session.id)
    assert.match(all, /new file mode 100644[\s\S]*\+\+\+ b\/a\.txt\n@@ -0,0 \+1,2 @@\n\+two\n\+three/)
    const { text: later } = await Session.diff(world.session.id, { since: second.id })
    assert.match(later, /-one\n\+two\n\+three/)
  }))

test("Session.revert() undoes what a subtask did as well", () => {
  const task = [
    call("subtask", { task: "write it" }),
    call("write", { path: "sub.txt", content: "by a task\n" }),
    text("Done."),
    text("All done."),
  ]
  return inWorld(task, async (world) => {
    await world.ask("Have it written", { asks: "once" })
    assert.equal(read(world, "sub.txt"), "by a task\n")
    const [prompt] = await world.messages()
    const { removed } = await Session.revert(world.session.id, prompt!.id)
    assert.deepEqual(removed, ["sub.txt"])
  })
})

test("an imported session has no snapshots", () =>
  inWorld(script, async (world) => {
    await twoPrompts(world)
    const exported = await Session.export(world.session.id)
    await Session.remove(world.session.id)
    const { id } = await Session.import(exported)
    assert.deepEqual(await Snapshot.list(id), [])
  }))

test("Session.revert() finishes an interrupted revert, then undoes later changes", () =>
  inWorld(
    [...script.slice(0, 4), call("bash", { command: "echo late > late.txt" }), text("Late.")],
    async (world) => {
      const { session, ask } = world
      const second = await twoPrompts(world)
      // The state after a crash: the files are restored, but the revert is not recorded.
      await Snapshot.revert({ sessionId: session.id, messageId: second.id })
      assert.equal(read(world, "a.txt"), "one\n")
      await ask("More", { asks: "once" })
      const { removed } = await Session.revert(session.id, second.id)
      assert.deepEqual(removed, ["late.txt"])
      assert.equal(read(world, "a.txt"), "one\n")
      assert.equal(await Snapshot.resume({ sessionId: session.id }), undefined)
    },
  ))

test("Session.redo() redoes several reverts in order, until nothing is left or a prompt follows", () =>
  inWorld(script, async (world) => {
    const { session, messages, ask } = world
    const second = await twoPrompts(world)
    const before = shapeOf(await messages())
    const [first] = await messages()
    await assert.rejects(Session.redo(session.id), { name: "Session.NothingToRedo" })
    await Session.revert(session.id, second.id)
    await Session.setMode(session.id, "plan")
    await Session.revert(session.id, first!.id)
    assert.equal(existsSync(join(world.tmp.path, "a.txt")), false)
    await Session.setMode(session.id, "act")
    await Session.redo(session.id)
    assert.equal(read(world, "a.txt"), "one\n")
    await Session.redo(session.id)
    assert.equal(read(world, "a.txt"), "two\nthree\n")
    assert.deepEqual(shapeOf(await messages()), [...before, "system_control"])
    await assert.rejects(Session.redo(session.id), /There is nothing to redo in session sess_\w+\./)
    await Session.revert(session.id, second.id)
    const copy = await Session.fork(session.id)
    await assert.rejects(Session.redo(copy.id), { name: "Session.NothingToRedo" })
    await ask("Hi")
    await assert.rejects(Session.redo(session.id), /a prompt came after the last revert/)
    assert.equal(read(world, "a.txt"), "one\n")
  }))

test("Session.redo() refuses files that the person changed since, unless forced", () =>
  inWorld(script, async (world) => {
    const { session, tmp } = world
    const second = await twoPrompts(world)
    await Session.revert(session.id, second.id)
    tmp.write("a.txt", "mine\n")
    const preview = await Session.redo(session.id, { preview: true })
    assert.deepEqual(
      preview.conflicts.map(({ path }) => path),
      ["a.txt"],
    )
    await assert.rejects(Session.redo(session.id), { name: "Snapshot.Conflict" })
    await Session.redo(session.id, { force: true })
    assert.equal(read(world, "a.txt"), "two\nthree\n")
  }))

/** Sends two prompts. Returns the message of the second one. */
async function twoPrompts({ ask, messages }: World) {
  await ask("Write it", { asks: "once" })
  await ask("Change it", { asks: "once" })
  return (await messages()).findLast((message) => message.type === "text" && message.data.role === "user")!
}

function read({ tmp }: World, name: string): string {
  return readFileSync(join(tmp.path, name), "utf8")
}
