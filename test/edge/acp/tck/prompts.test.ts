// Requirements of the public compatibility kit of the protocol (acp-tck), version 1, by their ids: prompts, their content,
// cancellation, and what an agent may ask its client.
import assert from "node:assert/strict"
import { test } from "node:test"
import { setTimeout as sleep } from "node:timers/promises"
import type { ContentBlock } from "@agentclientprotocol/sdk"
import { call, fakeLlm, stall, text } from "../../../fixture/fake-llm.ts"
import { everythingFile } from "../../../fixture/mcp/servers.ts"
import { png } from "../../../fixture/png.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"
import { until } from "../../../fixture/until.ts"
import { choose, on, withSession } from "../harness.ts"

/** Long enough for an update that would come too late. */
const quiet = 200

test("ACP-PROMPT-001, ACP-PROMPT-002 a prompt ends with a stop reason, and its updates name its session", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([text("Hello.")])
  await using acp = await withSession(tmp, { llm })
  assert.deepEqual(await acp.prompt("hello"), { stopReason: "end_turn" })
  assert.ok(acp.updates.length)
  for (const { sessionId } of acp.updates) assert.equal(sessionId, acp.sessionId)
})

const blocks: [id: string, name: string, block: (folder: string) => ContentBlock][] = [
  [
    "ACP-PROMPT-003",
    "a link",
    (folder) => ({ type: "resource_link", name: "a.txt", uri: `file://${folder}/a.txt` }),
  ],
  [
    "ACP-PROMPTCAP-001",
    "an image",
    () => ({ type: "image", data: png({ width: 4, height: 4 }).toString("base64"), mimeType: "image/png" }),
  ],
  [
    "ACP-PROMPTCAP-003",
    "embedded content",
    (folder) => ({
      type: "resource",
      resource: { uri: `file://${folder}/b.txt`, mimeType: "text/plain", text: "b" },
    }),
  ],
]
for (const [id, name, block] of blocks)
  test(`${id} a prompt with ${name} beside its text is answered`, async () => {
    await using tmp = await tmpdir()
    tmp.write("a.txt", "a\n")
    await using llm = await fakeLlm([text("Seen.")])
    await using acp = await withSession(tmp, { llm })
    assert.deepEqual(await acp.prompt("look", block(tmp.path)), { stopReason: "end_turn" })
  })

test("ACP-PROMPTCAP-002 audio is not offered and is refused", async () => {
  await using tmp = await tmpdir()
  await using acp = await withSession(tmp)
  assert.equal(acp.initialized.agentCapabilities?.promptCapabilities?.audio, false)
  const sound: ContentBlock = { type: "audio", data: "AAAA", mimeType: "audio/wav" }
  await assert.rejects(acp.prompt("listen", sound), { code: -32602 })
})

for (const moment of ["at once", "while it streams", "while a tool waits for permission"])
  test(`ACP-CANCEL-001, ACP-CANCEL-002 a prompt that is cancelled ${moment} ends as cancelled, and no update follows`, async () => {
    await using tmp = await tmpdir({ git: true })
    const streams = stall(text("On and on.", { deltas: 9 }), 1_200)
    const writes = call("write", { path: "a.txt", content: "x" })
    await using llm = await fakeLlm([moment.includes("permission") ? writes : streams])
    await using acp = await withSession(tmp, { llm, permit: () => new Promise(() => {}) })
    const answer = acp.prompt("go")
    if (moment !== "at once") await until(() => acp.text() || acp.permissions.length, "it works")
    await acp.agent.notify(on.session.cancel, { sessionId: acp.sessionId })
    assert.deepEqual(await answer, { stopReason: "cancelled" })
    const count = acp.lines.length
    await sleep(quiet)
    assert.equal(acp.lines.length, count)
  })

test("ACP-CANCEL-001 a cancellation that races with the end of the turn leaves a valid answer and a usable session", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm(() => text("Short."))
  await using acp = await withSession(tmp, { llm })
  for (let delay = 0; delay < 12; delay++) {
    const answer = acp.prompt("go")
    await sleep(delay * 3)
    await acp.agent.notify(on.session.cancel, { sessionId: acp.sessionId })
    assert.match((await answer).stopReason, /^(cancelled|end_turn)$/)
  }
  assert.deepEqual(await acp.prompt("and now"), { stopReason: "end_turn" })
})

test("ACP-CLIENTCAP-001, ACP-CLIENTCAP-002, ACP-CLIENTCAP-003 a client that offers nothing is asked for permission only", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write("a.txt", "a\n")
  await using llm = await fakeLlm([
    call("read", { path: "a.txt" }),
    call("edit", { path: "a.txt", edits: [{ oldText: "a", newText: "b" }] }),
    call("bash", { command: "cat a.txt" }),
    call("everything_trigger-elicitation-request", {}),
    text("Done."),
  ])
  const server = { name: "everything", command: process.execPath, args: [everythingFile, "stdio"], env: [] }
  await using acp = await withSession(tmp, { llm, permit: choose("allow_once"), mcpServers: [server] })
  assert.deepEqual(await acp.prompt("do all of it"), { stopReason: "end_turn" })
  const called = acp.lines
    .map((line) => JSON.parse(line))
    .filter(({ method, id }) => method && id !== undefined)
  assert.deepEqual([...new Set(called.map(({ method }) => method))], ["session/request_permission"])
})
