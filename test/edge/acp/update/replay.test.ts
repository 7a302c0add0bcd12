// The replay of a stored history when an editor loads a session.
import assert from "node:assert/strict"
import { rmSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { pathToFileURL } from "node:url"
import { z } from "zod"
import { outputFolder } from "#ability/call/output-folder.ts"
import * as Tool from "#ability/tool/tool.ts"
import { replay } from "#edge/acp/update/updates.ts"
import * as SessionRecord from "#engine/record/session-record.ts"
import * as Session from "#engine/session/session.ts"
import * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { inWorld } from "../../../engine/session/harness.ts"
import { call, calls, reasoning, text } from "../../../fixture/fake-llm.ts"
import { image } from "../../../fixture/images.ts"
import { createEditor, type Editor, type Entry } from "../editor.ts"
import { all, inFollowed } from "../followed.ts"

const picture = image("note.png").toString("base64")

async function replayed(sessionId: string, client = {}): Promise<Editor> {
  const editor = createEditor()
  await replay({ sessionId, send: editor.send, client })
  return editor
}

/** The final state of each entry, without its intermediate states. */
function still(entries: Entry[]) {
  return entries.map((entry) => ("who" in entry ? entry : { ...entry, statuses: undefined }))
}

test("replay() sends the same texts and calls, in the same order, as the live session", async () => {
  const script = [
    reasoning(
      "First.",
      calls([text("I look. ", { deltas: 3 }), call("ls"), call("read", { path: "a.txt" })]),
    ),
    calls([
      text("I change it."),
      call("edit", { path: "a.txt", edits: [{ oldText: "two", newText: "2" }] }),
      call("write", { path: "b.txt", content: "new\n" }),
      call("read", { path: "missing.txt" }),
      call("bash", { command: "echo out\nexit 2" }),
    ]),
    calls([call("camera"), call("todo", { todos: [{ text: "a", status: "in_progress" }] })]),
    call("subtask", { task: "help" }),
    call("ls"),
    text("I helped."),
    reasoning("Last.", text("Done.", { usage: { input: 500, output: 5 } })),
    text("Again."),
  ]
  const seeing = { provider: { openai: { models: { "fake-model": { input: ["text", "image"] } } } } }
  await inFollowed(
    script,
    async ({ tmp, ask, session, editor }) => {
      tmp.write("a.txt", "one\ntwo\nthree\n")
      Tool.define("camera", () => ({
        description: "Takes a picture",
        parameters: z.object({}),
        readOnly: true,
        permission: () => [{ permission: "file.read", target: "." }],
        execute: async () => ({ text: "[image 1]", images: [{ data: picture, mimeType: "image/png" }] }),
      }))
      await ask("Do it", { asks: "once" })
      await ask("And again", { asks: "deny" })
      const again = await replayed(session.id)
      const shown = still(again.shown())
      assert.deepEqual(
        shown.filter((entry) => !("who" in entry && entry.who === "user")),
        still(editor.shown()),
      )
      assert.deepEqual(again.texts("user"), ["Do it", "And again"])
      assert.ok(JSON.stringify(again.calls().find(({ name }) => name === "camera")).includes(picture))
      assert.deepEqual(again.of("plan").at(-1), editor.of("plan").at(-1))
      assert.deepEqual(again.of("usage_update").at(-1), editor.of("usage_update").at(-1))
      assert.equal(again.of("session_info_update").at(-1)!.title, "Do it")
    },
    { config: seeing },
  )
})

test("replay() sends attachments as content of the prompt, and no notes for the model", async () => {
  await inWorld([text("ok"), text("ok")], async ({ tmp, ask, session, messages }) => {
    tmp.write("src/a b.txt", "one\ntwo\n")
    tmp.write(
      ".vitamin/skills/brief/SKILL.md",
      "---\nname: brief\ndescription: Short words\n---\nAlways be brief.\n",
    )
    const parts = [
      { type: "file_reference" as const, path: "src/a b.txt", startLine: 1, endLine: 2 },
      { type: "image" as const, source: { kind: "base64" as const, value: picture, mimeType: "image/png" } },
      { type: "file_reference" as const, path: "missing.txt" },
    ]
    await ask("/brief Look at these", { parts })
    await ask("", { parts: parts.slice(0, 1) })
    assert.ok((await messages()).some(({ type, data }) => type === "text" && data.role === "system"))
    const editor = await replayed(session.id)
    const shown = editor.shown().filter((entry) => "who" in entry)
    assert.deepEqual(
      shown.map(({ who, text }) => [who, text]),
      [
        ["user", "/brief Look at these"],
        ["agent", "ok"],
        ["user", ""],
        ["agent", "ok"],
      ],
    )
    const uri = pathToFileURL(join(tmp.path, "src/a b.txt")).href
    const link = { type: "resource_link", uri: `${uri}#L1-L2`, name: "src/a b.txt:1-2" }
    const [first, , second] = shown
    assert.deepEqual(first!.content[0], link)
    assert.deepEqual(first!.content[1], { type: "image", data: picture, mimeType: "image/png" })
    assert.equal(first!.content.length, 3)
    assert.deepEqual(second!.content, [link])
    assert.ok(!JSON.stringify(editor.updates).includes("be brief"))
    rmSync(outputFolder(session.id), { recursive: true, force: true })
    const [without] = (await replayed(session.id)).shown()
    assert.ok(!JSON.stringify(without).includes(picture), "its bytes are gone")
  })
})

test("after a compaction the whole history is replayed, and the summary only to clients that support it", async () => {
  const long = "some words that take room ".repeat(400)
  const script = [text(long), text(long), text("Goal: the summary."), text("after")]
  await inWorld(script, async ({ ask, session }) => {
    await ask("one")
    await ask("two")
    await Session.compact(session.id)
    await ask("three")
    const plain = await replayed(session.id)
    assert.deepEqual(plain.texts("user"), ["one", "two", "three"])
    assert.deepEqual(plain.texts("agent"), [long, long, "after"])
    assert.ok(!JSON.stringify(plain.updates).includes("the summary"))
    const told = await replayed(session.id, all)
    assert.match(JSON.stringify(told.of("compaction_update")[0]!.summary), /the summary/)
    assert.deepEqual(told.shown(), plain.shown())
  })
})

test("replay() leaves out reverted messages and other branches", async () => {
  await inWorld([text("1"), text("2"), text("3")], async ({ ask, session, messages }) => {
    await ask("one")
    await ask("two")
    const second = (await messages())[2]!
    await Session.branch(session.id, "other", { from: (await messages())[1]!.id })
    await ask("three")
    assert.deepEqual((await replayed(session.id)).texts("user"), ["one", "three"])
    await Session.switchBranch(session.id, "main")
    assert.deepEqual((await replayed(session.id)).texts("user"), ["one", "two"])
    await Session.revert(session.id, second.id)
    assert.deepEqual((await replayed(session.id)).texts("user"), ["one"])
  })
})

test("replay() fails calls of a dead process, and leaves calls of a running session open", async () => {
  await inWorld([text("ok")], async ({ ask, session, messages }) => {
    await ask("one")
    const request = Message.make({
      sessionId: session.id,
      parentId: (await messages()).at(-1)!.id,
      type: "tool_request",
      data: Message.fromToolCalls([{ id: "c", function: { name: "bash", arguments: '{"command":"x"}' } }]),
    })
    await MessageStore.write(request)
    assert.deepEqual(
      (await replayed(session.id)).calls().map(({ status }) => status),
      ["failed"],
    )
    const { kept } = await SessionRecord.claim(session.id)
    await kept
    assert.deepEqual(
      (await replayed(session.id)).calls().map(({ status }) => status),
      ["pending"],
    )
  })
})

test("replay() throws for an unknown session, and sends nothing for an empty one", async () => {
  await inWorld([], async ({ session }) => {
    await assert.rejects(replayed("sess_none"), { name: "Session.NotFound" })
    assert.deepEqual((await replayed(session.id)).updates, [])
  })
})
