// The tool call of a permission request, as the editor shows it.
import assert from "node:assert/strict"
import { symlinkSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import type { ToolCallUpdate } from "@agentclientprotocol/sdk"
import * as Permission from "#ability/permission/permission.ts"
import { toolCallOf } from "#edge/acp/update/updates.ts"
import type { World } from "../../../engine/session/harness.ts"
import { next } from "../../../engine/session/needy.ts"
import { call, text } from "../../../fixture/fake-llm.ts"
import { type Editor, textIn } from "../editor.ts"
import { inFollowed } from "../followed.ts"
import { assertIs } from "../schema.ts"

/** The tool call of a permission request, and the editor that follows the session. */
async function asked(
  [name, args]: [string, object],
  prepare: (world: World) => unknown = () => {},
): Promise<{ shown: ToolCallUpdate; editor: Editor; folder: string }> {
  let found: { shown: ToolCallUpdate; editor: Editor; folder: string } | undefined
  await inFollowed([call(name, args), text("done")], async (world) => {
    const { ask, editor, tmp } = world
    prepare(world)
    const work = ask("go")
    const [request] = await next()
    const shown = await toolCallOf(request!)
    assertIs("ToolCallUpdate", shown)
    await Permission.reply(request!.id, "reject")
    await work
    found = { shown, editor, folder: tmp.path }
  })
  return found!
}

test("toolCallOf() shows an edit under its call id, with its diff", async () => {
  const edits = [
    { oldText: "one", newText: "1" },
    { oldText: "two", newText: "2" },
  ]
  const { shown, editor, folder } = await asked(["edit", { path: "a.txt", edits }], ({ tmp }) =>
    tmp.write("a.txt", "one\ntwo\n"),
  )
  const path = join(folder, "a.txt")
  const [first] = editor.of("tool_call")
  const { sessionUpdate: _, ...known } = first!
  assert.deepEqual(shown, known)
  assert.deepEqual(
    shown.content,
    edits.map((edit) => ({ type: "diff", path, ...edit })),
  )
  assert.deepEqual([shown.kind, shown.title, shown.status], ["edit", "Edit `a.txt`", "pending"])
  assert.deepEqual(shown.locations, [{ path }])
})

test("toolCallOf() shows a write as a diff from the current file", async () => {
  const args = { path: "a.txt", content: "new\n" }
  const over = await asked(["write", args], ({ tmp }) => tmp.write("a.txt", "old\n"))
  const path = join(over.folder, "a.txt")
  assert.deepEqual(over.shown.content, [{ type: "diff", path, oldText: "old\n", newText: "new\n" }])
  const fresh = await asked(["write", args])
  assert.deepEqual(fresh.shown.content, [
    { type: "diff", path: join(fresh.folder, "a.txt"), oldText: null, newText: "new\n" },
  ])
})

test("toolCallOf() reads only short texts of the work tree", async () => {
  const outside = (world: World) =>
    symlinkSync(world.tmp.write("../secret.txt", "secret"), `${world.tmp.path}/a.txt`)
  const prepared: ((world: World) => unknown)[] = [
    outside,
    ({ tmp }) => tmp.write("a.txt", Buffer.from([0xff, 0xfe, 0x80])),
    ({ tmp }) => tmp.write("a.txt", "x".repeat(1_000_000)),
  ]
  for (const prepare of prepared) {
    const { shown } = await asked(["write", { path: "a.txt", content: "new\n" }], prepare)
    assert.match(textIn(shown), /\+ ?new/)
    assert.doesNotMatch(textIn(shown), /secret/)
    assert.ok(!shown.content!.some(({ type }) => type === "diff"))
    assert.ok(JSON.stringify(shown).length < 2_000)
  }
})

test("toolCallOf() shows a command of several lines completely", async () => {
  const command = "echo fine\nrm -rf everything"
  const { shown } = await asked(["bash", { command }])
  assert.equal(shown.title, "`echo fine…`")
  assert.equal(textIn(shown), `\`\`\`sh\n${command}\n\`\`\``)
  assert.deepEqual([shown.kind, shown.rawInput], ["execute", { command }])
})

test("a permission request for an attachment shows its path, and is closed after the reply", async () => {
  await inFollowed([text("done")], async ({ ask, editor, tmp }) => {
    const file = tmp.write("../outside.txt", "words\n")
    const work = ask(`look at @${file}`)
    const [request] = await next()
    const shown = await toolCallOf(request!)
    assertIs("ToolCallUpdate", shown)
    assert.deepEqual([shown.kind, shown.locations], ["read", [{ path: join(tmp.path, "../outside.txt") }]])
    assert.match(shown.title!, /Allow read/)
    assert.deepEqual(
      editor.calls().map(({ toolCallId, status }) => [toolCallId, status]),
      [[shown.toolCallId, "pending"]],
    )
    await Permission.reply(request!.id, "once")
    await work
    assert.deepEqual(
      editor.calls().map(({ statuses }) => statuses.join(" ")),
      ["pending completed"],
    )
  })
})

test("the question whether to continue is shown with its own title", async () => {
  const script = [...Array.from({ length: 12 }, () => call("ls")), text("done")]
  await inFollowed(script, async ({ ask, editor }) => {
    const work = ask("go")
    const [request] = await next()
    const shown = await toolCallOf(request!)
    assertIs("ToolCallUpdate", shown)
    assert.match(shown.title!, /^The model repeats itself/)
    const shownAs = editor.calls().find(({ toolCallId }) => toolCallId === shown.toolCallId)
    assert.equal(shownAs?.title, shown.title)
    await Permission.reply(request!.id, "reject")
    await assert.rejects(work, { name: "Session.Looping" })
    const ends = editor.calls().map(({ status }) => status)
    assert.deepEqual(ends.toSorted().slice(-2), ["completed", "failed"], "none is left open")
  })
})
