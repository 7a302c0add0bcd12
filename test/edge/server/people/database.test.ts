// People on several servers of one PostgreSQL: tokens, sessions, revoking, the audit log, clocks that differ.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { test } from "node:test"
import type * as Audit from "#edge/server/people/audit.ts"
import { serving, vitamin } from "../../../fixture/cli.ts"
import { clockBy } from "../../../fixture/clock-by.ts"
import { noPostgres, password, tmpDatabase } from "../../../fixture/postgres.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"
import { follow } from "../harness.ts"

const real = { skip: noPostgres, timeout: 120_000 }
const hour = 3_600_000

async function ask(
  { url, token }: { url: string; token: string },
  method: string,
  path: string,
  body?: unknown,
) {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
  const response = await fetch(url + path, {
    method,
    headers,
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  return { status: response.status, json: JSON.parse((await response.text()) || "null") }
}

test(
  "people of two servers: a token, its sessions, its end and the audit log are the same at both",
  real,
  async () => {
    await using tmp = await tmpdir({ git: true })
    await using database = await tmpDatabase()
    const set = ["--database", database.url]
    const one = await serving(tmp, set)
    await using _one = one.child
    const two = await serving(tmp, set)
    await using _two = two.child
    const added = await vitamin(tmp, ["token", "add", "ada", "--role", "member", "--expires", "1d", ...set])
    assert.equal(added.code, 0, added.err)
    const token = added.out.trim()
    assert.match((await vitamin(tmp, ["token", "list", ...set])).out, /^ada +member/)
    // Files know nothing of it.
    assert.match((await vitamin(tmp, ["token", "list"])).err, /^Nobody has a token/)

    const { json: session } = await ask({ ...one, token }, "POST", "/session", { title: "of Ada" })
    assert.equal((await ask({ ...two, token }, "GET", `/session/${session.id}`)).json.title, "of Ada")
    const streams = [one, two].map(({ url }) => follow({ url, token }))
    await Promise.all(streams.map(({ opened }) => opened))
    assert.equal((await vitamin(tmp, ["token", "remove", "ada", ...set])).code, 0)
    await Promise.all(streams.map(({ closed }) => closed))
    for (const { url } of [one, two]) assert.equal((await ask({ url, token }, "GET", "/session")).status, 401)

    const { out } = await vitamin(tmp, ["audit", "--format", "json", ...set])
    const lines = (JSON.parse(out) as Audit.Entry[]).map(
      (entry) => `${entry.person} ${entry.action} ${entry.result}`,
    )
    for (const line of [
      "owner token add ok",
      "ada createSession 200",
      "ada getSession 200",
      "owner token remove ok",
    ])
      assert.ok(lines.includes(line), `${line}: ${lines}`)
    assert.ok(!out.includes(token.slice(-20)) && !out.includes(password))
  },
)

test(
  "a server whose clock is an hour off says so, refuses tokens that have ended, and dates its entries right",
  real,
  async () => {
    await using tmp = await tmpdir({ git: true })
    await using database = await tmpDatabase()
    tmp.env.VITAMIN_DATABASE = database.url
    const server = await serving(tmp, [], clockBy(-hour))
    await using child = server.child
    assert.match(child.errors(), /The clock of this machine is 60 min behind the database's: set it \(NTP\)/)
    const owner = { url: server.url, token: readFileSync(server.tokenFile, "utf8").trim() }
    const expires = Date.now() + 4_000
    const { json: made } = await ask(owner, "POST", "/token", { name: "eve", role: "admin", expires })
    assert.ok(Math.abs(made.created - Date.now()) < hour / 2, String(made.created))
    const stream = follow({ url: server.url, token: made.token })
    await stream.closed
    assert.equal((await ask({ ...owner, token: made.token }, "GET", "/session")).status, 401)
    // A lifetime that is given as a length counts from now, also where the clock is ahead.
    const added = await vitamin(
      tmp,
      ["token", "add", "bob", "--role", "reader", "--expires", "1h"],
      clockBy(2 * hour),
    )
    assert.equal((await ask({ ...owner, token: added.out.trim() }, "GET", "/session")).status, 200)
    const { json: entries } = await ask(owner, "GET", "/audit")
    assert.ok(entries.length >= 2)
    for (const { time } of entries) assert.ok(Math.abs(time - Date.now()) < hour / 2, String(time))
    const doctor = await vitamin(tmp, ["doctor"], clockBy(hour))
    assert.match(doctor.out, /^bad +clock +The clock of this machine is 60 min ahead of the database's/m)
  },
)
