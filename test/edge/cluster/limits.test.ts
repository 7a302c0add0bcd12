// Limits of prompts that run and wait, and fairness between persons, through HTTP with personal tokens.
import assert from "node:assert/strict"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { vitamin } from "../../fixture/cli.ts"
import { noPostgres } from "../../fixture/postgres.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"
import { type Fleet, startFleet } from "./harness.ts"
import { holdPrompts, prompterOf } from "./held-prompts.ts"

const real = { skip: noPostgres, timeout: 240_000 }

async function limit(fleet: Fleet, ...args: string[]) {
  const { code, out, err } = await vitamin(fleet.tmp, ["limit", ...args], {
    VITAMIN_DATABASE: fleet.database.url,
  })
  assert.equal(code, 0, err)
  return out
}

test("a person's prompt goes before the backlog of another one", real, async () => {
  await using held = await holdPrompts()
  await using fleet = await startFleet(1, held.llm)
  const [worker] = fleet.workers
  const [ada, bob] = [await prompterOf(fleet, "ada"), await prompterOf(fleet, "bob")]
  // A worker runs 16 at once, so two of these wait.
  for (let n = 1; n <= 18; n++) assert.equal((await ada.prompt(worker!, `ada p ${n}`)).status, 202)
  await until(() => held.running.length === 16, "the first ones")
  assert.equal((await bob.prompt(worker!, "bob p 1")).status, 202)
  held.release(held.running[0]!)
  await until(() => held.began.length === 17, "the next one")
  assert.equal(held.began.at(-1), "bob p 1")
  while (held.began.length < 19) {
    held.release(held.running[0]!)
    await until(() => held.running.length === 16 || held.began.length === 19, "the next one")
  }
  // The oldest prompts of a person come first.
  assert.deepEqual(held.began.slice(17), ["ada p 17", "ada p 18"])
  assert.equal(held.most.fleet, 16)
})

test("running limits hold over two workers at every moment", real, async () => {
  await using held = await holdPrompts()
  await using fleet = await startFleet(2, held.llm)
  await limit(fleet, "set", "running.person", "2")
  await limit(fleet, "set", "running.project", "3")
  await limit(fleet, "set", "running.fleet", "4")
  const other = join(fleet.tmp.path, "..", "other")
  mkdirSync(other)
  const persons = [
    { words: "ada p", person: await prompterOf(fleet, "ada", fleet.tmp.path) },
    { words: "bob p", person: await prompterOf(fleet, "bob", fleet.tmp.path) },
    { words: "owner q", person: await prompterOf(fleet, undefined, other) },
  ]
  const send = async (words: string, n: number) => {
    const { person } = persons.find((one) => one.words === words)!
    const { status, body } = await person.prompt(fleet.workers[n % 2]!, `${words} ${n}`)
    assert.equal(status, 202, JSON.stringify(body))
  }
  const drain = async (total: number) => {
    while (held.began.length < total || held.running.length) {
      await until(() => held.running.length, "the next one")
      held.release(held.running[0]!)
    }
  }
  for (const { words } of persons) for (let n = 1; n <= 4; n++) await send(words, n)
  await until(() => held.running.length === 4, "the first ones")
  await drain(12)
  assert.deepEqual(held.most, { person: 2, project: 3, fleet: 4 })
  // All at once, at both workers.
  await Promise.all(persons.flatMap(({ words }) => Array.from({ length: 8 }, (_, n) => send(words, n + 5))))
  await drain(36)
  assert.deepEqual(held.most, { person: 2, project: 3, fleet: 4 })
  assert.equal(new Set(held.began).size, 36)
})

test("a prompt above the waiting limit is refused, until others began or were aborted", real, async () => {
  await using held = await holdPrompts()
  await using fleet = await startFleet(2, held.llm)
  await limit(fleet, "set", "running.person", "1")
  await limit(fleet, "set", "waiting.person", "1")
  const [first, second] = fleet.workers
  const [ada, bob] = [await prompterOf(fleet, "ada"), await prompterOf(fleet, "bob")]
  assert.equal((await ada.prompt(first!, "ada p 1")).status, 202)
  assert.equal((await ada.prompt(second!, "ada p 2")).status, 202)
  const refused = await ada.prompt(second!, "ada p 3")
  assert.equal(refused.status, 429)
  assert.equal(refused.headers.get("retry-after"), "5")
  assert.deepEqual(refused.body, {
    error: {
      name: "Prompt.TooManyWaiting",
      message:
        "The prompt was not accepted: ada has 1 waiting prompt, and the limit waiting.person is 1. Try again when one of them has begun, or raise the limit: vitamin limit set waiting.person NUMBER",
      data: { name: "waiting.person", limit: 1, waiting: 1 },
    },
  })
  const listed = await second!.call("GET", `/session/${refused.id}/prompt`, undefined, ada.headers)
  assert.deepEqual(listed.body, [])
  assert.equal((await bob.prompt(first!, "bob p 1")).status, 202)
  await until(() => held.running.includes("ada p 1") && held.running.includes("bob p 1"), "the first ones")

  // The end of a prompt lets the next one begin.
  held.release("ada p 1")
  await until(() => held.running.includes("ada p 2"), "the second prompt")
  const waiting = await ada.prompt(first!, "ada p 4")
  assert.equal(waiting.status, 202)
  assert.equal((await ada.prompt(first!, "ada p 5")).status, 429)

  // So does an abort.
  const abort = `/session/${waiting.id}/abort`
  assert.deepEqual((await second!.call("POST", abort, {}, ada.headers)).body, { aborted: true })
  assert.equal((await ada.prompt(first!, "ada p 6")).status, 202)
  assert.equal((await ada.prompt(first!, "ada p 7")).status, 429)

  // And so does the end of a worker: what it ran goes on elsewhere, and counts once.
  const { id } = await bob.prompt(first!, "bob p 2")
  assert.ok(!held.began.includes("bob p 2"))
  held.release("bob p 1")
  await until(() => held.running.includes("bob p 2"), "the prompt of bob")
  const holder = await fleet.holder(id)
  const other = fleet.workers.find((one) => one !== holder)!
  holder.signal("SIGKILL")
  await holder.child.exit
  await until(
    () => held.began.filter((one) => one === "bob p 2").length === 2 && held.running.length === 2,
    "the prompts that go on",
  )
  assert.equal((await bob.prompt(other, "bob p 3")).status, 202)
  assert.equal((await bob.prompt(other, "bob p 4")).status, 429)
  held.release("bob p 2")
  await until(() => held.running.includes("bob p 3"), "the next prompt of bob")
  assert.equal((await bob.prompt(other, "bob p 5")).status, 202)
  held.release("ada p 2")
  await until(() => held.running.includes("ada p 6"), "the last prompt of ada")
  assert.equal(held.most.person, 1)
  assert.deepEqual(
    held.began.filter((one) => /ada p [3457]/.test(one)),
    [],
  )
})

test("waiting limits of a project and of the fleet, set and removed while servers run", real, async () => {
  await using held = await holdPrompts()
  await using fleet = await startFleet(1, held.llm)
  const [worker] = fleet.workers
  const owner = await prompterOf(fleet, undefined)
  await limit(fleet, "set", "running.project", "1")
  await limit(fleet, "set", "waiting.project", "0")
  assert.equal((await owner.prompt(worker!, "owner p 1")).status, 202)
  const prompt = async (words: string) => {
    const { status, body } = await owner.prompt(worker!, words)
    return [status, (body as { error?: { message: string } }).error?.message.split(". ")[0]]
  }
  assert.deepEqual(await prompt("owner p 2"), [
    429,
    "The prompt was not accepted: no prompt of this project may wait (the limit waiting.project is 0), and it cannot begin at once",
  ])
  await limit(fleet, "remove", "waiting.project")
  await limit(fleet, "set", "waiting.fleet", "1")
  assert.deepEqual(await prompt("owner p 3"), [202, undefined])
  assert.deepEqual(await prompt("owner p 4"), [
    429,
    "The prompt was not accepted: the fleet has 1 waiting prompt, and the limit waiting.fleet is 1",
  ])
  assert.deepEqual((await limit(fleet, "list")).split("\n"), [
    "running.person   no limit",
    "running.project  1",
    "running.fleet    no limit",
    "waiting.person   1000",
    "waiting.project  no limit",
    "waiting.fleet    1",
    "schedules.person 100",
    "schedules.fleet  1000",
  ])
  await limit(fleet, "remove", "running.project")
  await until(() => held.running.length === 2, "the prompt that waited")
})

test("vitamin limit refuses unknown names, bad numbers, and servers without a database", async () => {
  await using tmp = await tmpdir({ git: true })
  const refusal = async (...args: string[]) => {
    const { code, err } = await vitamin(tmp, ["limit", ...args])
    return [code, err.replace(/^vitamin: /, "").split("\n")[0]]
  }
  assert.deepEqual(await refusal("list"), [
    2,
    "Limits are for servers of a database: set VITAMIN_DATABASE, or use --database.",
  ])
  assert.deepEqual(await refusal("set", "running.team", "3"), [
    2,
    'There is no limit "running.team". Possible: running.person, running.project, running.fleet, waiting.person, waiting.project, waiting.fleet, schedules.person, schedules.fleet',
  ])
  assert.deepEqual(await refusal("set", "running.fleet", "0"), [
    2,
    '"0" cannot be running.fleet: name a number from 1 on.',
  ])
  assert.deepEqual(await refusal("set", "running.person", "-1"), [
    2,
    '"-1" cannot be running.person: name a number from 1 on.',
  ])
  assert.deepEqual(await refusal("set", "running.person", "--", "-1"), [
    2,
    'Words after "--" do not count here: vitamin limit set <name> <number> (vitamin limit set --help)',
  ])
  assert.deepEqual(await refusal("set", "waiting.person", "many"), [
    2,
    '"many" cannot be waiting.person: name a number from 0 on.',
  ])
})
