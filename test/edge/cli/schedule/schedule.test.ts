// `vitamin schedule` and its routes: what they refuse, in one line.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { test } from "node:test"
import { serving, vitamin } from "../../../fixture/cli.ts"
import { noPostgres, tmpDatabase } from "../../../fixture/postgres.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"

const real = { skip: noPostgres, timeout: 180_000 }

async function post(server: { url: string; tokenFile: string }, body: unknown, directory?: string) {
  const token = readFileSync(server.tokenFile, "utf8").trim()
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
  assert.equal((await post(server, { ...asked, allow: ["fly:*"] })).status, 400)
  assert.equal((await post(server, asked, "/nowhere/at/all")).status, 400)
  assert.equal((await post(server, asked, "https://git.invalid/x.git")).status, 404)
  const list = await vitamin(tmp, ["schedule", "list", "--format", "json"])
  assert.deepEqual([list.code, list.out], [0, "[]"])
})
