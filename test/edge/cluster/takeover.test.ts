// A prompt is a job that any worker runs. If its worker dies, another one goes on with the turn.
import assert from "node:assert/strict"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import pg from "pg"
import { whyNot } from "../../ability/sandbox/world.ts"
import { call, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { noPostgres } from "../../fixture/postgres.ts"
import { until } from "../../fixture/until.ts"
import { bash, newSession, startFleet, story, type Worker } from "./harness.ts"

const asynchronous = { prefer: "respond-async" }

test("a prompt is answered through the worker that was asked, whichever runs it", {
  skip: noPostgres,
}, async () => {
  await using llm = await fakeLlm((_, turn) => text(`Answer ${turn}.`))
  await using fleet = await startFleet(2, llm)
  const ids = await Promise.all(fleet.workers.map(newSession))
  const answers = await Promise.all(
    Array.from({ length: 8 }, async (_, n) => {
      const worker = fleet.workers[n % 2]!
      return worker.call("POST", `/session/${ids[n % 2]}/message`, { text: `Prompt ${n}` })
    }),
  )
  assert.deepEqual(
    answers.map(({ status }) => status),
    Array(8).fill(200),
    JSON.stringify(answers),
  )
  for (const id of ids) {
    const told = await story(fleet.workers[1]!, id)
    assert.equal(told.filter((line) => line.startsWith("user")).length, 4)
    // Prompts of a session run one after another.
    assert.deepEqual(
      told.map((line) => line.split(":")[0]),
      Array(4).fill(["user", "assistant"]).flat(),
    )
  }
})

for (const { where, args, skip } of [
  { where: "", args: [], skip: noPostgres },
  { where: " in the sandbox", args: ["--sandbox"], skip: noPostgres || (whyNot("user") ?? false) },
])
  test(`the turn of a killed worker goes on at another one, and its call is not run again${where}`, {
    skip,
  }, async () => {
    await using llm = await fakeLlm([
      call("bash", { command: "sh run.sh" }),
      text("The rest of the answer."),
      text("The second prompt."),
    ])
    await using fleet = await startFleet(0, llm)
    for (let n = 0; n < 3; n++) await fleet.start({ args })
    fleet.tmp.write("run.sh", "echo ran >> ran.txt; sleep 60\n")
    const first = fleet.workers[0]!
    const id = await newSession(first)
    const accepted = await first.call(
      "POST",
      `/session/${id}/message`,
      { ...bash, text: "Run it." },
      asynchronous,
    )
    assert.equal(accepted.status, 202)
    const holder = await fleet.holder(id)
    const ran = join(fleet.tmp.path, "ran.txt")
    await until(() => existsSync(ran), "the call")
    const other = fleet.workers.find((one) => one !== holder) as Worker
    const queued = other.call("POST", `/session/${id}/message`, { text: "And then?" })
    await until(
      async () => (await other.call("GET", `/session/${id}/prompt`)).body.length === 1,
      "the second prompt",
    )
    holder.signal("SIGKILL")

    const answer = await queued
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    assert.deepEqual(
      (await story(other, id)).filter((line) => !line.startsWith("system")),
      [
        "user: Run it.",
        "call bash",
        "result interrupted",
        "assistant: The rest of the answer.",
        "user: And then?",
        "assistant: The second prompt.",
      ],
    )
    assert.equal(readFileSync(ran, "utf8"), "ran\n")
    assert.equal((await other.call("GET", `/session/${id}`)).body.status, "idle")
  })

test("one worker at a time takes over from a worker that died", { skip: noPostgres }, async () => {
  await using llm = await fakeLlm([call("bash", { command: "sh run.sh" }), text("The rest.")])
  await using fleet = await startFleet(3, llm)
  fleet.tmp.write("run.sh", "touch started; sleep 60\n")
  const id = await newSession(fleet.workers[0]!)
  const prompt = { ...bash, text: "Run it." }
  await fleet.workers[0]!.call("POST", `/session/${id}/message`, prompt, asynchronous)
  const holder = await fleet.holder(id)
  const other = fleet.workers.find((one) => one !== holder) as Worker
  await until(() => existsSync(join(fleet.tmp.path, "started")), "the call")
  const client = new pg.Client({ connectionString: fleet.database.url })
  await client.connect()
  try {
    // Nobody can read the jobs of the dead worker, until both others have noticed its death.
    await client.query("begin; lock table vitamin_jobs.workflow_status in access exclusive mode")
    holder.signal("SIGKILL")
    await holder.child.exit
    const beats = async () => {
      const text =
        "select id, seen::text, seen < clock_timestamp() - interval '2.5 s' as dead from vitamin.worker"
      return fleet.database.query<{ id: string; seen: string; dead: boolean }>(text)
    }
    await until(async () => (await beats()).some(({ dead }) => dead), "the death")
    for (let round = 0; round < 3; round++) {
      const before = new Set((await beats()).map(({ seen }) => seen))
      const isNew = async () => (await beats()).filter(({ seen }) => !before.has(seen)).length === 2
      await until(isNew, "a heartbeat of both others")
    }
  } finally {
    await client.end()
  }
  await until(async () => (await story(other, id)).at(-1) === "assistant: The rest.", "the answer")
  assert.deepEqual(await fleet.database.query("select tries from vitamin.attempt"), [{ tries: 1 }])
})
