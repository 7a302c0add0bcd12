// `vitamin schedule` and its routes: what they refuse, in one line.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { test } from "node:test"
import { serving, vitamin } from "../../../fixture/cli.ts"
import { noPostgres, tmpDatabase } from "../../../fixture/postgres.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"

const real = { skip: noPostgres, timeout: 180_000 }

type Server = { url: string; tokenFile: string }

async function post(
  server: Server,
  body: unknown,
  directory?: string,
  token = readFileSync(server.tokenFile, "utf8").trim(),
) {
  const response = await fetch(`${server.url}/schedule`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      ...(directory ? { "x-vitamin-directory": directory } : {}),
    },
    body: JSON.stringify(body),
  })
  const { error } = (await response.json()) as { error?: { name: string; message: string } }
  return { status: response.status, error }
}

test("vitamin schedule without a database says what it needs", async () => {
  await using tmp = await tmpdir({ git: true })
  const { code, out, err } = await vitamin(tmp, ["schedule", "list"])
  assert.deepEqual([code, out], [1, ""])
  assert.match(err, /^vitamin: Schedules need servers on a database: .*serve --database postgres:.*\n$/)
  const server = await serving(tmp)
  await using _child = server.child
  const { status, error } = await post(server, { cron: "0 7 * * 1", prompt: "Look." })
  assert.deepEqual([status, error?.name], [501, "Schedule.NoDatabase"])
})

test("vitamin schedule refuses wrong times, zones, prompts, folders, projects and ids", real, async () => {
  await using tmp = await tmpdir({ git: true })
  await using database = await tmpDatabase()
  tmp.env.VITAMIN_DATABASE = database.url
  const early = await vitamin(tmp, ["schedule", "list"])
  assert.equal(early.code, 1)
  assert.match(early.err, /^vitamin: No server has run on this database yet.*\n$/)
  const server = await serving(tmp)
  await using _child = server.child
  const refusals: [string[], RegExp][] = [
    [["add", "0 7 * *", "Look."], /is no cron expression: it has 4 fields/],
    [["add", "0 0 30 2 *", "Look."], /such a day never comes/],
    [["add", "* * * * * *", "Look."], /at most once a minute/],
    [["add", "0 7 * * 1", "Look.", "--timezone", "Mars/Olympus"], /"Mars\/Olympus" is no time zone/],
    [["add", "0 7 * * 1", " "], /prompt of a schedule is empty/],
    [["add", "0 7 * * 1", "Look.", "--directory", "nowhere"], /the folder .*nowhere does not exist/],
    [["add", "0 7 * * 1", "Look.", "--directory", "https://git.invalid/x.git"], /No project has the address/],
    [["add", "0 7 * * 1", "Look.", "--agent", "nobody"], /nobody/],
    [["add", "0 7 * * 1", "Look.", "--model", "nothing/at-all"], /Provider "nothing" does not exist/],
    [["add", "0 7 * * 1", "Look.", "--model", "anthropic/none"], /"anthropic" has no model "none"/],
    [["add", "0 7 * * 1", "Look.", "--allow", "fly:*"], /--allow: /],
    [["remove", "sch_unknown"], /There is no schedule "sch_unknown"/],
    [["pause", "sch_unknown"], /There is no schedule "sch_unknown"/],
  ]
  for (const [args, reason] of refusals) {
    const { code, out, err } = await vitamin(tmp, ["schedule", ...args])
    assert.ok(code === 1 || code === 2, `${args.join(" ")}: ${code} ${err}`)
    assert.equal(out, "")
    assert.match(err, reason)
    assert.match(err, /^vitamin: .*\n$/, "one line")
  }
  const asked = { cron: "0 7 * * 1", prompt: "Look." }
  assert.equal((await post(server, { ...asked, cron: "0 0 30 2 *" })).error?.name, "Schedule.InvalidCron")
  assert.equal((await post(server, { ...asked, cron: "* * * * * *" })).status, 400)
  assert.equal((await post(server, { ...asked, timezone: "Mars" })).error?.name, "Schedule.InvalidTimezone")
  assert.equal((await post(server, { ...asked, prompt: " " })).status, 400)
  assert.equal((await post(server, { ...asked, agent: "nobody" })).status, 404)
  const unknown = await post(server, { ...asked, model: "anthropic/none" })
  assert.deepEqual([unknown.status, unknown.error?.name], [400, "Provider.UnknownModel"])
  assert.equal((await post(server, { ...asked, allow: ["fly:*"] })).status, 400)
  assert.equal((await post(server, asked, "/nowhere/at/all")).status, 400)
  assert.equal((await post(server, asked, "https://git.invalid/x.git")).status, 404)
  const list = await vitamin(tmp, ["schedule", "list", "--format", "json"])
  assert.deepEqual([list.code, list.out], [0, "[]"])
})

test("schedules above the limits of a person and of the fleet are refused", real, async () => {
  await using tmp = await tmpdir({ git: true })
  await using database = await tmpDatabase()
  tmp.env.VITAMIN_DATABASE = database.url
  const server = await serving(tmp)
  await using _child = server.child
  const run = async (...args: string[]) => {
    const { code, out, err } = await vitamin(tmp, args)
    assert.equal(code, 0, err)
    return out
  }
  const ada = await run("token", "add", "ada", "--role", "member")
  const asked = { cron: "0 0 29 2 *", prompt: "Look." }
  await run("limit", "set", "schedules.person", "2")
  await run("limit", "set", "schedules.fleet", "4")

  // All at once: the limit holds.
  const answers = await Promise.all(Array.from({ length: 6 }, () => post(server, asked)))
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 200, 409, 409, 409, 409])
  const { error } = answers.find(({ status }) => status === 409)!
  const full =
    "The schedule was not added: the owner has 2 schedules, and the limit schedules.person is 2. Remove one, or raise the limit: vitamin limit set schedules.person NUMBER"
  assert.deepEqual([error?.name, error?.message], ["Schedule.Limit", full])
  const again = await vitamin(tmp, ["schedule", "add", asked.cron, asked.prompt])
  assert.deepEqual([again.code, again.err], [1, `vitamin: ${full}\n`])

  assert.equal((await post(server, asked, undefined, ada)).status, 200)
  await run("limit", "set", "schedules.fleet", "3")
  const fleet = await post(server, asked, undefined, ada)
  assert.match(
    fleet.error?.message ?? "",
    /: the fleet has 3 schedules, and the limit schedules.fleet is 3\./,
  )

  // The key of a model may be on the servers only.
  const [{ id }] = JSON.parse(await run("schedule", "list", "--format", "json"))
  await run("schedule", "remove", id)
  await run("schedule", "add", asked.cron, asked.prompt, "--model", "anthropic/claude-3-7-sonnet-20250219")
})
