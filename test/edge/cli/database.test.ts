// `vitamin serve --database`: real servers, as processes, that share one PostgreSQL.
import assert from "node:assert/strict"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { createClient, createHttpTransport } from "#client/client.ts"
import { serving, vitamin } from "../../fixture/cli.ts"
import { env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { cluster, noPostgres, password, tmpDatabase } from "../../fixture/postgres.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"
import { follow } from "../server/harness.ts"

const real = { skip: noPostgres, timeout: 120_000 }

async function start(tmp: Tmp, args: string[], variables: Record<string, string> = {}) {
  const { child, url, tokenFile } = await serving(tmp, args, variables)
  const client = createClient(
    createHttpTransport({ url, token: readFileSync(tokenFile, "utf8").trim(), directory: tmp.path }),
  )
  const token = readFileSync(tokenFile, "utf8").trim()
  return { child, client, url, token, [Symbol.asyncDispose]: () => child[Symbol.asyncDispose]() }
}

test(
  "two servers with --database share sessions and messages, and files have none of them",
  real,
  async () => {
    await using tmp = await tmpdir({ git: true })
    await using database = await tmpDatabase()
    await using llm = await fakeLlm([text("It is 42.")])
    const { variables } = env(llm, "chat")
    await using one = await start(tmp, ["--database", database.url], variables)
    await using two = await start(tmp, [], { ...variables, VITAMIN_DATABASE: database.url })
    const session = await one.client.createSession({ title: "shared" })
    await one.client.promptSession({ id: session.id, parts: [{ type: "text", text: "What is it?" }] })
    const seen = await two.client.getSession({ id: session.id })
    assert.equal(seen.title, "shared")
    const messages = await two.client.listMessages({ id: session.id })
    assert.match(JSON.stringify(messages), /It is 42\./)
    const listed = await vitamin(tmp, ["session", "list"], { VITAMIN_DATABASE: database.url })
    assert.match(listed.out, /shared/)
    assert.equal(existsSync(join(tmp.env.XDG_DATA_HOME!, "vitamin/storage/session")), false)
    for (const server of [one, two]) {
      server.child.process.kill("SIGTERM")
      assert.equal(await server.child.exit, 143, server.child.errors())
    }
  },
)

test(
  "vitamin serve --database says in one line why a database cannot be used, without the password",
  real,
  async () => {
    await using tmp = await tmpdir({ git: true })
    const address = `postgres://vitamin:${password}@127.0.0.1:1/nothing`
    for (const [args, variables] of [
      [["--database", address], {}],
      [[], { VITAMIN_DATABASE: address }],
    ] as const) {
      const { code, out, err } = await vitamin(tmp, ["serve", "--port", "0", ...args], variables)
      assert.equal(code, 1)
      assert.equal(out, "")
      assert.equal(
        err,
        "vitamin: The database nothing at 127.0.0.1:1 cannot be used: nobody answers there (ECONNREFUSED); start it, or correct the address\n",
      )
    }
  },
)

test(
  "vitamin doctor --database shows the server, the tables and the records, and creates nothing",
  real,
  async () => {
    await using tmp = await tmpdir({ git: true })
    await using database = await tmpDatabase()
    const doctor = async () => {
      const { out } = await vitamin(tmp, ["doctor", "--database", database.url])
      assert.equal(out.includes(password), false)
      return out
        .split("\n")
        .filter((line) => /^\w+ +(database|records)/.test(line))
        .join("\n")
    }
    assert.match(await doctor(), /^note +database +test_.* PostgreSQL \d+.*: empty; the first server/)
    assert.deepEqual(await database.query("select 1 from pg_namespace where nspname = 'vitamin'"), [])
    await vitamin(tmp, ["session", "list"], { VITAMIN_DATABASE: database.url })
    await database.query("insert into vitamin.record values ('session/p', 's', '{}')")
    assert.match(
      await doctor(),
      /^ok +database .*: 1 record, 0 events, \d+ MB, tables of[\s\S]*ok +records +\d+ records? can be read/,
    )
    await database.query("update vitamin.version set version = 99, oldest = 99")
    assert.match(await doctor(), /^bad +database .*cannot be used: its tables/)
  },
)

test(
  "clients of two servers get all events once, in one order, also across a restart of PostgreSQL and kill -9",
  real,
  async () => {
    await using tmp = await tmpdir({ git: true })
    await using database = await tmpDatabase()
    const set = { VITAMIN_DATABASE: database.url }
    await using one = await start(tmp, [], set)
    await using two = await start(tmp, [], set)
    const [a, b] = [follow(one), follow(two)]
    await Promise.all([a.opened, b.opened])
    const created = (client: typeof a): string[] =>
      client.frames
        .filter(({ event }) => event === "session.created")
        .map(({ data }) => JSON.parse(data).payload.session.title)
    const titles = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => `s${from + i}`)
    const create = (from: number, to: number) =>
      Promise.all(titles(from, to).map((title, i) => (i % 2 ? one : two).client.createSession({ title })))

    await create(0, 20)
    await until(() => created(a).length === 20 && created(b).length === 20, "20 sessions at both")
    await (await cluster()).restart()
    await create(20, 30)
    await until(() => created(a).length === 30 && created(b).length === 30, "30 sessions at both")
    await until(() => a.frames.length === b.frames.length, "the same at both")
    assert.deepEqual(created(a).toSorted(), titles(0, 30).toSorted())
    assert.deepEqual(a.frames, b.frames)
    const ids = a.frames.map(({ id }) => id!)
    assert.deepEqual(
      ids,
      Array.from(ids, (_, i) => ids[0]! + i),
      "without gaps",
    )

    // One server dies; its client continues at the other.
    one.child.process.kill("SIGKILL")
    await a.closed
    await Promise.all(titles(30, 35).map((title) => two.client.createSession({ title })))
    const again = follow(two, { "last-event-id": String(a.lastId()) })
    await until(() => created(again).length === 5, "what was missed")
    assert.deepEqual(created(again).toSorted(), titles(30, 35))
    await until(() => b.frames.length === a.frames.length + again.frames.length, "the other client")
    assert.deepEqual([...a.frames, ...again.frames], b.frames)
    for (const client of [b, again]) client.drop()
  },
)

test(
  "vitamin storage copy moves all shared records to a database and back, and compares them",
  real,
  async () => {
    await using tmp = await tmpdir({ git: true })
    await using database = await tmpDatabase()
    await using llm = await fakeLlm([text("One."), text("Two.")])
    const { variables } = env(llm, "chat")
    const set = { VITAMIN_DATABASE: database.url }
    for (const prompt of ["first", "second"])
      assert.equal((await vitamin(tmp, ["run", prompt], variables)).code, 0)
    const copy = (...args: string[]) => vitamin(tmp, ["storage", "copy", ...args], set)
    const list = (more: Record<string, string>) => vitamin(tmp, ["session", "list", "--format", "json"], more)
    const there = await copy("files", "database")
    assert.equal(there.code, 0, there.err)
    const [, records, written] = /^(\d+) records .*; (\d+) of them were written now/.exec(there.out) ?? []
    assert.ok(Number(records) >= 6 && records === written, there.out)
    assert.deepEqual(await database.query("select count(*)::text as n from vitamin.record"), [{ n: records }])
    assert.equal((await list(set)).out, (await list({})).out)
    assert.match((await copy("files", "database")).out, /; 0 of them were written now/)

    // A copy that was interrupted continues; other records are refused, or kept if told.
    await database.query("delete from vitamin.record where parent like 'message/%'")
    assert.match(
      (await copy("files", "database")).out,
      new RegExp(`^${records} records .*; [1-9]\\d* of them`),
    )
    await database.query("insert into vitamin.record values ('session/p', 'other', '1')")
    const refused = await copy("files", "database")
    assert.equal(refused.code, 1)
    assert.match(
      refused.err,
      /^vitamin: Record session\/p\/other is in the target, and not in the source.*--overwrite/,
    )
    assert.equal(refused.err.includes(password), false)
    assert.equal((await copy("files", "database", "--overwrite")).code, 0)

    const back = await copy("database", "files")
    assert.match(back.out, new RegExp(`^${Number(records) + 1} records .*; 1 of them were written now`))
    for (const [args, reason] of [
      [["files", "files"], /are the same/],
      [["files", "nowhere"], /"nowhere" is no store/],
    ] as const) {
      const { code, err } = await copy(...args)
      assert.equal(code, 2)
      assert.match(err, reason)
    }
  },
)
