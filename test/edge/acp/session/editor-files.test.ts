// Files that are open in the client with changes that are not saved: tools read and write them there, with the same
// permissions and the same undo.
import assert from "node:assert/strict"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { vitamin } from "../../../fixture/cli.ts"
import { call, type FakeLlm, fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../../fixture/tmpdir.ts"
import { choose, type Options, withSession } from "../harness.ts"
import { createDesk, type Desk } from "../open-files.ts"

const both = { fs: { readTextFile: true, writeTextFile: true } }

/** A session of an editor that has the file open with `buffer`. */
async function withOpenFile(
  { tmp, llm, desk }: { tmp: Tmp; llm: FakeLlm; desk: Desk },
  { saved = "one\ntwo\n", buffer = "one\ntwo\nthree, not saved\n" }: { saved?: string; buffer?: string } = {},
  options: Options = {},
) {
  const path = tmp.write("a.txt", saved)
  desk.buffers.set(path, buffer)
  const acp = await withSession(tmp, {
    llm,
    desk,
    capabilities: both,
    permit: choose("allow_once"),
    ...options,
  })
  return Object.assign(acp, { path, onDisk: () => readFileSync(path, "utf8") })
}

const lastResult = (llm: FakeLlm) =>
  llm.requests
    .at(-1)!
    .messages.flatMap(({ results }) => results)
    .at(-1)!.text
const edit = (oldText: string, newText: string) =>
  call("edit", { path: "a.txt", edits: [{ oldText, newText }] })

test("a read shows the text that the editor has, and an attached file too", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("read", { path: "a.txt" }), text("Read."), text("Seen.")])
  const desk = createDesk()
  await using acp = await withOpenFile({ tmp, llm, desk })
  await acp.prompt("read it")
  assert.match(lastResult(llm), /three, not saved/)
  await acp.prompt("look at this", { type: "resource_link", name: "a.txt", uri: `file://${acp.path}` })
  assert.match(JSON.stringify(llm.requests[2]!.messages.slice(-3)), /three, not saved/)
  assert.equal(acp.onDisk(), "one\ntwo\n")
})

test("an edit changes the editor's text, and an undo takes back the edit only", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([edit("two", "2"), text("Done.")])
  const desk = createDesk()
  await using acp = await withOpenFile({ tmp, llm, desk })
  await acp.prompt("edit it")
  assert.match(lastResult(llm), /edited/)
  const after = "one\n2\nthree, not saved\n"
  assert.deepEqual([desk.buffers.get(acp.path), acp.onDisk()], [after, after])
  const { code, err } = await vitamin(tmp, ["session", "revert", acp.sessionId])
  assert.equal(code, 0, err)
  assert.equal(acp.onDisk(), "one\ntwo\nthree, not saved\n")
})

test("a new file is made by the editor, and an undo removes it", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("write", { path: "new.txt", content: "new\n" }), text("Done.")])
  const desk = createDesk()
  await using acp = await withOpenFile({ tmp, llm, desk })
  await acp.prompt("write it")
  const path = join(tmp.path, "new.txt")
  assert.deepEqual([desk.buffers.get(path), readFileSync(path, "utf8")], ["new\n", "new\n"])
  await vitamin(tmp, ["session", "revert", acp.sessionId])
  assert.equal(existsSync(path), false)
})

test("the question about a write shows the change from the editor's text", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("write", { path: "a.txt", content: "all new\n" }), text("No.")])
  const desk = createDesk()
  await using acp = await withOpenFile({ tmp, llm, desk }, {}, { permit: choose("reject_once") })
  await acp.prompt("write it")
  const [diff] = acp.permissions[0]!.toolCall.content as { type: string; oldText?: string }[]
  assert.equal(diff!.oldText, "one\ntwo\nthree, not saved\n")
  assert.deepEqual(
    desk.log.filter((line) => line.startsWith("write")),
    [],
  )
  assert.equal(acp.onDisk(), "one\ntwo\n")
})

test("an edit that fails saves nothing for the person", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([edit("nowhere", "x"), text("Sorry.")])
  const desk = createDesk()
  await using acp = await withOpenFile({ tmp, llm, desk })
  await acp.prompt("edit it")
  assert.match(lastResult(llm), /was not found/)
  assert.equal(acp.onDisk(), "one\ntwo\n")
})

test("an edit is refused if the person typed since the file was read", async () => {
  await using tmp = await tmpdir({ git: true })
  const desk = createDesk()
  const path = join(tmp.path, "a.txt")
  const type = () => {
    desk.buffers.set(path, "one\ntwo\nmore\n")
    return edit("two", "2")
  }
  await using llm = await fakeLlm([call("read", { path: "a.txt" }), type, text("Sorry.")])
  await using acp = await withOpenFile({ tmp, llm, desk })
  await acp.prompt("edit it")
  assert.match(lastResult(llm), /has changed since it was read/)
  assert.equal(desk.buffers.get(path), "one\ntwo\nmore\n")
})

test("files that the editor does not give, or only as text, are read and written on disk", async () => {
  await using tmp = await tmpdir({ git: true })
  const wide = join(tmp.path, "wide.txt")
  writeFileSync(wide, Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from("wide two\n", "utf16le")]))
  await using llm = await fakeLlm([
    call("edit", { path: "wide.txt", edits: [{ oldText: "two", newText: "2" }] }),
    edit("two", "2"),
    text("Done."),
  ])
  const desk = createDesk()
  desk.refused.add("read")
  await using acp = await withOpenFile({ tmp, llm, desk })
  await acp.prompt("edit them")
  assert.equal(readFileSync(wide).subarray(2).toString("utf16le"), "wide 2\n")
  assert.equal(acp.onDisk(), "one\n2\n")
  assert.deepEqual(
    desk.log.filter((line) => /wide|^write/.test(line)),
    [],
  )
})

test("a write that the editor refuses changes nothing and is reported to the model", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([edit("two", "2"), text("Sorry.")])
  const desk = createDesk()
  desk.refused.add("write")
  await using acp = await withOpenFile({ tmp, llm, desk }, { buffer: "one\ntwo\n" })
  await acp.prompt("edit it")
  assert.match(lastResult(llm), /the editor refused it: .*does not want to/)
  assert.deepEqual([desk.buffers.get(acp.path), acp.onDisk()], ["one\ntwo\n", "one\ntwo\n"])
})

test("the model is told if the editor changed its text and did not save the file", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([edit("two", "2"), text("Done.")])
  const desk = createDesk({ isSaving: false })
  await using acp = await withOpenFile({ tmp, llm, desk }, { buffer: "one\ntwo\n" })
  await acp.prompt("edit it")
  assert.match(lastResult(llm), /the file on disk differs/)
})

test("unsaved changes are not overwritten if the editor can only be read", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([edit("two", "2"), text("Sorry.")])
  const desk = createDesk()
  const capabilities = { fs: { readTextFile: true } }
  await using acp = await withOpenFile({ tmp, llm, desk }, {}, { capabilities })
  await acp.prompt("edit it")
  assert.match(lastResult(llm), /changes in the person's editor that are not saved/)
  assert.equal(acp.onDisk(), "one\ntwo\n")
})

test("a file that a rule denies is not asked for", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("read", { path: "a.txt" }), edit("two", "2"), text("Sorry.")])
  const desk = createDesk()
  await using acp = await withOpenFile({ tmp, llm, desk }, {}, { args: ["--deny", "file.read:a.txt"] })
  await acp.prompt("read it")
  assert.match(lastResult(llm), /denied/)
  assert.deepEqual(desk.log, [])
})

test("the client's files and terminals are not asked for if it does not offer them", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([edit("two", "2"), call("bash", { command: "cat a.txt" }), text("Done.")])
  const desk = createDesk()
  await using acp = await withOpenFile({ tmp, llm, desk }, {}, { capabilities: {} })
  await acp.prompt("edit it")
  assert.deepEqual([desk.log, acp.onDisk()], [[], "one\n2\n"])
})
