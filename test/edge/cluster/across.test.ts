// A client may use any worker: questions, aborts and steering prompts reach the worker that works on the session.
import assert from "node:assert/strict"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { call, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { noPostgres } from "../../fixture/postgres.ts"
import { until } from "../../fixture/until.ts"
import { bash, type Fleet, newSession, startFleet, story, type Worker } from "./harness.ts"

const asynchronous = { prefer: "respond-async" }

/** Sends a prompt; returns the session, the worker that runs it, and another one. */
async function begin(fleet: Fleet, body: object): Promise<{ id: string; holder: Worker; other: Worker }> {
  const id = await newSession(fleet.workers[0]!)
  const { status } = await fleet.workers[0]!.call("POST", `/session/${id}/message`, body, asynchronous)
  assert.equal(status, 202)
  const holder = await fleet.holder(id)
  return { id, holder, other: fleet.workers.find((one) => one !== holder)! }
}

test("a question is listed and answered through another worker", { skip: noPostgres }, async () => {
  await using llm = await fakeLlm([call("write", { path: "a.txt", content: "allowed" }), text("Written.")])
  await using fleet = await startFleet(2, llm)
  const { id, other } = await begin(fleet, { text: "Write it." })
  let question: { id: string; sessionId: string } | undefined
  await until(async () => {
    question = (await other.call("GET", "/permission/pending")).body[0]
    return question
  }, "the question")
  assert.equal(question!.sessionId, id)
  const { body: all } = await other.call("GET", "/question")
  assert.deepEqual(
    all.map((one: { directory: string; request: { id: string } }) => [one.directory, one.request.id]),
    [[fleet.tmp.path, question!.id]],
  )
  const respond = (name: string) =>
    other.call("POST", `/permission/${name}/respond`, { reply: "once" }).then(({ status }) => status)
  assert.equal(await respond("perm_unknown"), 404)
  assert.equal(await respond(question!.id), 200)
  assert.equal(await respond(question!.id), 404)
  await until(async () => (await story(other, id)).at(-1) === "assistant: Written.", "the answer")
  assert.equal(readFileSync(join(fleet.tmp.path, "a.txt"), "utf8"), "allowed")
})

test("an answer reaches the worker that has the question if another worker is silent", {
  skip: noPostgres,
}, async () => {
  await using llm = await fakeLlm([call("write", { path: "a.txt", content: "allowed" }), text("Written.")])
  await using fleet = await startFleet(2, llm)
  const { id, other } = await begin(fleet, { text: "Write it." })
  let question: { id: string } | undefined
  await until(async () => {
    question = (await other.call("GET", "/permission/pending")).body[0]
    return question
  }, "the question")
  // The silent worker has the first row of the table, so it is asked first.
  const { query } = fleet.database
  await query("truncate vitamin.worker; insert into vitamin.worker (id, seen) values ('silent', 'infinity')")
  // The other worker may have read the table before the holder was in it again.
  const pending = async () => (await other.call("GET", "/permission/pending")).body
  await until(async () => (await pending()).length === 1, "the worker that asks is found again")
  const { status } = await other.call("POST", `/permission/${question!.id}/respond`, { reply: "once" })
  assert.equal(status, 200)
  await until(async () => (await story(other, id)).at(-1) === "assistant: Written.", "the answer")
})

test("an abort through another worker stops the turn and the waiting prompts", {
  skip: noPostgres,
}, async () => {
  await using llm = await fakeLlm([call("bash", { command: "sh run.sh" }), text("Never asked.")])
  await using fleet = await startFleet(2, llm)
  fleet.tmp.write("run.sh", "touch started; sleep 60\n")
  const { id, other } = await begin(fleet, { ...bash, text: "Run it." })
  await until(() => existsSync(join(fleet.tmp.path, "started")), "the call")
  const waiting = other.call("POST", `/session/${id}/message`, { text: "And then?" })
  await until(async () => (await other.call("GET", `/session/${id}/prompt`)).body.length === 1, "the second")
  assert.deepEqual((await other.call("POST", `/session/${id}/abort`)).body, { aborted: true })
  assert.equal((await waiting).status, 409)
  await until(
    async () => (await other.call("GET", `/session/${id}`)).body.status === "interrupted",
    "the end",
  )
  assert.deepEqual(await story(other, id), ["user: Run it.", "call bash", "result interrupted"])
  assert.equal(llm.requests.length, 1)
})

test("a steering prompt through another worker joins the running turn", { skip: noPostgres }, async () => {
  // The turn goes on until the second prompt has joined it: nobody knows how long its message takes.
  await using llm = await fakeLlm((request, turn) => {
    if (request.raw.includes("Be short.")) return text("Both.")
    return turn < 40 ? call("bash", { command: `sh run.sh ${turn}` }) : text("Nobody joined.")
  })
  await using fleet = await startFleet(2, llm)
  fleet.tmp.write("run.sh", "touch started; sleep 0.3; while [ ! -e go ]; do sleep 0.1; done\n")
  const { id, other } = await begin(fleet, { ...bash, text: "Run it." })
  await until(() => existsSync(join(fleet.tmp.path, "started")), "the call")
  const joined = other.call("POST", `/session/${id}/message`, { text: "Be short.", whenBusy: "steer" })
  await until(async () => (await other.call("GET", `/session/${id}/prompt`)).body.length === 1, "the prompt")
  fleet.tmp.write("go", "")
  assert.equal((await joined).status, 200)
  const told = await story(other, id)
  assert.deepEqual(
    told.filter((line) => !/^(call bash|result success)$/.test(line)),
    ["user: Run it.", "user: Be short.", "assistant: Both."],
  )
  assert.deepEqual(told.slice(-2), ["user: Be short.", "assistant: Both."])
})
