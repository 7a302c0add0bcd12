// One worker at a time works on a session; a worker that was paused starts no call and writes no record when it wakes up.
import assert from "node:assert/strict"
import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { call, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { noPostgres } from "../../fixture/postgres.ts"
import { until } from "../../fixture/until.ts"
import { bash, newSession, startFleet, story } from "./harness.ts"

test("a worker that was paused starts no call and writes no record after another one took its session", {
  skip: noPostgres,
}, async () => {
  // The paused worker gets the first answer, a call that would write a file, when it continues.
  const paused = Promise.withResolvers<void>()
  await using llm = await fakeLlm([
    call("write", { path: "stale.txt", content: "stale" }, { gate: () => paused.promise }),
    text("Answer of the second worker."),
    text("The end."),
  ])
  await using fleet = await startFleet(2, llm)
  const id = await newSession(fleet.workers[0]!)
  const prompt = { ...bash, text: "Write the file." }
  await fleet.workers[0]!.call("POST", `/session/${id}/message`, prompt, { prefer: "respond-async" })
  const stale = await fleet.holder(id)
  const other = fleet.workers.find((one) => one !== stale)!
  await until(() => llm.requests.length === 1, "the request of the first worker")
  assert.equal((await other.call("POST", `/session/${id}/mode`, { mode: "plan" })).status, 409)

  stale.signal("SIGSTOP")
  paused.resolve()
  const isIdle = async () => (await other.call("GET", `/session/${id}`)).body.status === "idle"
  await until(isIdle, "the takeover")
  const before = await story(other, id)
  assert.equal(before[0], "user: Write the file.")
  assert.equal(before.at(-1), "assistant: Answer of the second worker.")
  const messages = () =>
    fleet.database.query("select * from vitamin.record where parent = $1", [`message/${id}`])
  const rows = await messages()
  stale.signal("SIGCONT")

  const answer = await stale.call("POST", `/session/${id}/message`, { text: "And now?" })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  assert.deepEqual(await story(stale, id), [...before, "user: And now?", "assistant: The end."])
  assert.equal(existsSync(join(fleet.tmp.path, "stale.txt")), false)
  const now = new Map((await messages()).map((row) => [row.name, row]))
  for (const row of rows) assert.deepEqual(now.get(row.name), row)
})

test("a worker that was paused while it asked a question goes on after another one took its session", {
  skip: noPostgres,
}, async () => {
  await using llm = await fakeLlm([
    call("write", { path: "asked.txt", content: "never" }),
    text("Answer of the second worker."),
    text("The end."),
  ])
  await using fleet = await startFleet(2, llm)
  const id = await newSession(fleet.workers[0]!)
  const prompt = { text: "Write the file." }
  await fleet.workers[0]!.call("POST", `/session/${id}/message`, prompt, { prefer: "respond-async" })
  const stale = await fleet.holder(id)
  const other = fleet.workers.find((one) => one !== stale)!
  const questions = async () => (await stale.call("GET", "/permission/pending")).body.length
  await until(async () => (await questions()) === 1, "the question")

  stale.signal("SIGSTOP")
  await until(async () => (await other.call("GET", `/session/${id}`)).body.status === "idle", "the takeover")
  stale.signal("SIGCONT")

  await until(async () => (await questions()) === 0, "the end of the question")
  const answer = await stale.call("POST", `/session/${id}/message`, { text: "And now?" })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  assert.equal((await story(other, id)).at(-1), "assistant: The end.")
  assert.equal(existsSync(join(fleet.tmp.path, "asked.txt")), false)
})

test("a worker asks for its lease right before a call that changes something", {
  skip: noPostgres,
}, async () => {
  await using llm = await fakeLlm([
    call("write", { path: "stale.txt", content: "stale" }),
    text("It was interrupted."),
  ])
  await using fleet = await startFleet(1, llm)
  const worker = fleet.workers[0]!
  // The hook runs after the call is stored and before it starts. Meanwhile another worker takes the session.
  const script = join(fleet.tmp.path, "..", "steal.mjs")
  writeFileSync(
    script,
    `import pg from ${JSON.stringify(import.meta.resolve("pg"))}
       const client = new pg.Client({ connectionString: ${JSON.stringify(fleet.database.url)} })
       await client.connect()
       await client.query("update vitamin.lease set worker = 'another', epoch = nextval('vitamin.epoch')")
       process.exit()`,
  )
  const folder = join(fleet.tmp.env.XDG_CONFIG_HOME!, "vitamin")
  mkdirSync(folder, { recursive: true })
  const hooks = [{ type: "command", command: `"${process.execPath}" "${script}"` }]
  // A snapshot would take longer than a heartbeat, which finds the same.
  writeFileSync(join(folder, "vitamin.jsonc"), JSON.stringify({ snapshot: false }))
  writeFileSync(join(folder, "hooks.json"), JSON.stringify({ hooks: { PreToolUse: [{ hooks }] } }))
  const id = await newSession(worker)
  const answer = await worker.call("POST", `/session/${id}/message`, { ...bash, text: "Write it." })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  assert.equal(existsSync(join(fleet.tmp.path, "stale.txt")), false)
  const told = (await story(worker, id)).filter((line) => !line.startsWith("system"))
  const expected = ["user: Write it.", "call write", "result interrupted", "assistant: It was interrupted."]
  assert.deepEqual(told, expected)
})
