// Files of a session are damaged, and the journal no longer has their content: the session continues with the readable
// messages, reports the missing ones, and has them again when the file is repaired.
import assert from "node:assert/strict"
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { vitamin } from "../../../fixture/cli.ts"
import { call, env, type FakeLlm, fakeLlm, type Request, text } from "../../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../../fixture/tmpdir.ts"

type Stored = { id: string; type: string; data: { control?: string; parts?: { text: string }[] } }
type Session = { id: string; title: string; branch: string; directory: string; model: string }
type Sent = { role: string; content: string; tool_calls?: unknown[] }

/** How a bad disk, an editor or a backup program may damage a record. A folder in place of the file is unreadable for
 * root too. */
const damages: Record<string, (file: string, bytes: Buffer) => void> = {
  "0 bytes": (file) => writeFileSync(file, ""),
  NULs: (file, bytes) => writeFileSync(file, Buffer.alloc(bytes.length)),
  cut: (file, bytes) => writeFileSync(file, bytes.subarray(0, bytes.length - 20)),
  BOM: (file, bytes) => writeFileSync(file, Buffer.concat([Buffer.from("\ufeff"), bytes])),
  "wrong shape": (file) => writeFileSync(file, '{"schema":1,"type":"text","data":7}'),
  "not readable": (file) => {
    rmSync(file)
    mkdirSync(file)
  },
}

test("a prompt continues after an unreadable message, and reports it each time", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm((_, turn) => text(`answer ${turn + 1}`))
  const session = await converse(tmp, llm, ["one", "two", "three"])
  const lost = (await messagesOf(tmp, session)).find(({ data }) => data.parts?.[0]?.text === "answer 2")!
  const whole = keepData(tmp)
  for (const [kind, damage] of Object.entries(damages)) {
    whole.putBack()
    damageRecord(tmp, ["message", session, lost.id], damage)
    for (const words of kind === "0 bytes" ? ["four", "five"] : ["four"]) {
      const resumed = await run(tmp, llm, ["--continue", words])
      assert.equal(resumed.code, 0, `${kind}: ${resumed.err}`)
      assert.match(
        resumed.err,
        new RegExp(`a message of this session cannot be read and is missing \\(${lost.id}`),
      )
      assert.match(resumed.err, /vitamin doctor/)
    }
    const said = sentIn(llm).map(({ content }) => content)
    const gap = said.findIndex((words) => words.includes("A message is missing here"))
    assert.equal(gap, 3, `${kind}: the note stands where the message stood`)
    assert.deepEqual(
      said.slice(0, 6).toSpliced(gap, 1),
      ["one", "answer 1", "two", "three", "answer 3"],
      kind,
    )
  }
})

test("calls and results stay paired if a request or a result cannot be read", async () => {
  await using tmp = await tmpdir()
  tmp.write("a.txt", "alpha\n")
  const script = [call("read", { path: "a.txt" }), text("Read."), ...Array(4).fill(text("Go on."))]
  await using llm = await fakeLlm(script)
  const session = await converse(tmp, llm, ["one"])
  const messages = await messagesOf(tmp, session)
  const whole = keepData(tmp)
  for (const [type, calls] of [
    ["tool_request", 0],
    ["tool_result", 1],
  ] as const) {
    whole.putBack()
    damageRecord(
      tmp,
      ["message", session, messages.find((message) => message.type === type)!.id],
      damages.NULs!,
    )
    assert.equal((await run(tmp, llm, ["--continue", "two"])).code, 0)
    const sent = sentIn(llm)
    assert.equal(sent.filter(({ tool_calls }) => tool_calls).length, calls, type)
    assert.equal(sent.filter(({ role }) => role === "tool").length, calls, type)
    assert.ok(
      sent.some(({ content }) => content?.includes("A message is missing here")),
      type,
    )
  }
})

test("if the record of a revert is lost, the messages stay reverted; if that of a branch switch is lost, the branch keeps its shared messages", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm((_, turn) => text(`answer ${turn + 1}`))
  const session = await converse(tmp, llm, ["one", "two"])
  assert.equal((await vitamin(tmp, ["session", "revert", session])).code, 0)
  await run(tmp, llm, ["--continue", "three"])
  const [, answer] = await messagesOf(tmp, session)
  await vitamin(tmp, ["session", "branch", session, "other", "--from", answer!.id])
  await run(tmp, llm, ["--continue", "four"])
  for (const { id, data } of await messagesOf(tmp, session))
    if (data.control) damageRecord(tmp, ["message", session, id], damages["0 bytes"]!)
  await run(tmp, llm, ["--continue", "five"])
  const withoutNotes = () =>
    sentIn(llm).filter(({ content }) => !content.includes("A message is missing here"))
  assert.deepEqual(
    withoutNotes().map(({ content }) => content),
    ["one", "answer 1", "four", "answer 4", "five"],
  )
  await vitamin(tmp, ["session", "branch", session, "main"])
  await run(tmp, llm, ["--continue", "six"])
  assert.deepEqual(
    withoutNotes().map(({ content }) => content),
    ["one", "answer 1", "three", "answer 3", "six"],
  )
})

test("an unreadable session record is rebuilt from the messages, and the damaged file is quarantined", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm((_, turn) => text(`answer ${turn + 1}`))
  const id = await converse(tmp, llm, ["First words"])
  await vitamin(tmp, ["session", "branch", id, "other"])
  const before = (await sessionsOf(tmp))[0]!
  const project = (before as unknown as { projectId: string }).projectId
  const whole = keepData(tmp)
  const badEscape = (file: string, bytes: Buffer) =>
    writeFileSync(file, bytes.toString().replace('"directory":"', '"directory":"\\x'))
  for (const [kind, damage] of Object.entries({ ...damages, "bad escape": badEscape })) {
    whole.putBack()
    damageRecord(tmp, ["session", project, id], damage)
    const resumed = await run(tmp, llm, ["--session", id, "more"])
    assert.equal(resumed.code, 0, `${kind}: ${resumed.err}`)
    assert.match(
      resumed.err,
      /The record of session \S+ could not be read and was rebuilt from its messages/,
      kind,
    )
    assert.equal(sentIn(llm)[0]!.content, "First words", kind)
    const [after] = await sessionsOf(tmp)
    const { title, branch, directory, model } = after!
    assert.deepEqual(
      { title, branch, directory, model },
      { title: before.title, branch: "other", directory: before.directory, model: before.model },
      kind,
    )
    const doctor = await vitamin(tmp, ["doctor"])
    assert.match(
      doctor.out,
      /note +quarantine +session\S+ \w+ broken.*\n.*the record was repaired or rebuilt; rm /,
    )
  }
  whole.putBack()
  damageRecord(tmp, ["session", project, id], damages.cut!)
  assert.deepEqual(
    (await sessionsOf(tmp)).map((session) => session.id),
    [id],
    "it is listed, too",
  )
})

test("vitamin doctor lists quarantined files, and --restore restores repaired ones", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm((_, turn) => text(`answer ${turn + 1}`))
  const session = await converse(tmp, llm, ["one", "two"])
  const [first, second] = await messagesOf(tmp, session)
  const bytes = readFileSync(recordFile(tmp, ["message", session, second!.id]))
  damageRecord(tmp, ["message", session, first!.id], damages.BOM!)
  damageRecord(tmp, ["message", session, second!.id], damages["0 bytes"]!)
  const sick = await vitamin(tmp, ["doctor"])
  assert.equal(sick.code, 1)
  const [, file = ""] =
    new RegExp(`${second!.id} is broken \\(it is empty\\); it is quarantined as (\\S+)`).exec(sick.out) ?? []
  assert.ok(existsSync(file), sick.out)
  assert.match(sick.out, /repair that file if its text can be recovered, then: vitamin doctor --restore/)
  assert.match(
    sick.out,
    new RegExp(
      `${first!.id} was broken; it is quarantined as \\S+\\n +→ it can be read: vitamin doctor --restore`,
    ),
  )
  writeFileSync(file, bytes)
  const restored = await vitamin(tmp, ["doctor", "--restore"])
  assert.equal(restored.out.match(/restored +message\/\S+/g)?.length, 2, restored.out)
  assert.doesNotMatch(restored.out, /quarantine/)
  const resumed = await run(tmp, llm, ["--continue", "three"])
  assert.doesNotMatch(resumed.err, /missing/)
  assert.deepEqual(
    sentIn(llm).map(({ content }) => content),
    ["one", "answer 1", "two", "answer 2", "three"],
  )
})

test("vitamin doctor names a message with an invalid shape, and its file", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([text("answer")])
  const session = await converse(tmp, llm, ["one"])
  const [first] = await messagesOf(tmp, session)
  const file = damageRecord(tmp, ["message", session, first!.id], damages["wrong shape"]!)
  const { code, out } = await vitamin(tmp, ["doctor"])
  assert.equal(code, 1)
  assert.ok(out.includes(`${file}: Message ${first!.id} is not valid`), out)
})

test("vitamin session remove also removes the quarantined files of the session", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([text("answer")])
  const session = await converse(tmp, llm, ["one"])
  const [first] = await messagesOf(tmp, session)
  damageRecord(tmp, ["message", session, first!.id], damages.cut!)
  assert.match((await vitamin(tmp, ["doctor"])).out, /quarantined as/)
  assert.equal((await vitamin(tmp, ["session", "remove", session])).code, 0)
  assert.doesNotMatch((await vitamin(tmp, ["doctor"])).out, /quarantined as/)
})

async function converse(tmp: Tmp, llm: FakeLlm, prompts: string[]): Promise<string> {
  for (const [i, words] of prompts.entries()) {
    const { code, err } = await run(tmp, llm, [...(i ? ["--continue"] : []), words])
    assert.equal(code, 0, err)
  }
  return (await sessionsOf(tmp))[0]!.id
}

function run(tmp: Tmp, llm: FakeLlm, args: string[]) {
  return vitamin(tmp, ["run", ...args], env(llm, "chat").variables)
}

/** The messages of the last request, without the system prompt. */
function sentIn(llm: FakeLlm): Sent[] {
  const { body } = llm.requests.at(-1) as Request & { body: { messages: Sent[] } }
  return body.messages.slice(1)
}

async function sessionsOf(tmp: Tmp): Promise<Session[]> {
  return JSON.parse((await vitamin(tmp, ["session", "list", "--format", "json"])).out)
}

async function messagesOf(tmp: Tmp, session: string): Promise<Stored[]> {
  const { out } = await vitamin(tmp, ["session", "export", session])
  return (JSON.parse(out) as { messages: Stored[] }).messages
}

/** Damages a record that is no longer in the journal. */
function damageRecord(tmp: Tmp, key: string[], damage: (file: string, bytes: Buffer) => void): string {
  rmSync(join(dataOf(tmp), "journal"), { recursive: true, force: true })
  const file = recordFile(tmp, key)
  damage(file, readFileSync(file))
  return file
}

function keepData(tmp: Tmp) {
  const copy = `${dataOf(tmp)}-copy`
  cpSync(dataOf(tmp), copy, { recursive: true })
  return {
    putBack() {
      rmSync(dataOf(tmp), { recursive: true })
      cpSync(copy, dataOf(tmp), { recursive: true })
    },
  }
}

function recordFile(tmp: Tmp, key: string[]): string {
  return `${join(dataOf(tmp), "storage", ...key)}.json`
}

function dataOf(tmp: Tmp): string {
  return join(tmp.env.XDG_DATA_HOME!, "vitamin")
}
