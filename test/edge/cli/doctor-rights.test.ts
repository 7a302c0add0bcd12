// `vitamin doctor --database` tries what a server needs, as the user of the address, and says what to grant.
import assert from "node:assert/strict"
import { test } from "node:test"
import { serving, vitamin } from "../../fixture/cli.ts"
import { noPostgres, tmpDatabase } from "../../fixture/postgres.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

const real = { skip: noPostgres, timeout: 120_000 }

test("vitamin doctor names what a user of the database may not do, and what to grant", real, async () => {
  await using tmp = await tmpdir({ git: true })
  await using database = await tmpDatabase()
  const name = new URL(database.url).pathname.slice(1)
  const user = `user_of_${name}`
  await database.query(`create role ${user} login password 'of-the-user'`)
  const address = new URL(database.url)
  Object.assign(address, { username: user, password: "of-the-user" })

  /** The lines about the database, and the statements that the owner is told. */
  async function doctor() {
    const { code, out } = await vitamin(tmp, ["doctor", "--database", address.href])
    const lines = out
      .replaceAll(/\n {21}/g, " ")
      .split("\n")
      .filter((line) => /^\w+ +database/.test(line))
    const grants = lines.flatMap((line) => /→ .* in psql: (.*)$/.exec(line)?.[1] ?? []).join("; ")
    return { code, text: lines.map((line) => line.replace(/ +/g, " ")).join("\n"), grants }
  }

  const empty = await doctor()
  assert.equal(empty.code, 1)
  const create = "create the schema vitamin and its tables, create the schema vitamin_jobs and its tables"
  assert.match(
    empty.text,
    new RegExp(`^bad database ${name} at \\S+: the user ${user} may not ${create}, so no`),
  )
  assert.equal(empty.grants, `grant create on database ${name} to ${user}`)

  // The owner's first server creates the tables.
  const owner = await serving(tmp, [], { VITAMIN_DATABASE: database.url })
  owner.child.process.kill("SIGTERM")
  assert.equal(await owner.child.exit, 143)
  for (const schema of ["vitamin", "vitamin_jobs"])
    await database.query(
      `grant usage on schema ${schema} to ${user}; grant select on all tables in schema ${schema} to ${user}`,
    )
  const count = "select count(*)::int as count from vitamin.record"
  const [before] = await database.query(count)
  const reader = await doctor()
  assert.equal(reader.code, 1)
  assert.match(
    reader.text,
    new RegExp(`^bad database .*: the user ${user} may only read there, so no server`),
  )
  assert.deepEqual((await database.query(count))[0], before)

  // What it says is enough.
  await database.query(reader.grants)
  assert.match((await doctor()).text, /^ok database [^\n]+$/)
  const server = await serving(tmp, [], { VITAMIN_DATABASE: address.href })
  await using _child = server.child
  await database.query(`revoke delete on vitamin.mail from ${user}`)
  assert.match(
    (await doctor()).text,
    /^bad database .* may not delete from vitamin\.mail, so no server can work with it → .*\nok database/,
  )
  await database.query(`grant delete on vitamin.mail to ${user}`)
  await database.query("update vitamin.version set version = version - 1")
  assert.match(
    (await doctor()).text,
    /may not change the tables, which are of an older version, .* grant vitamin to/,
  )
})

test("vitamin doctor creates nothing while it tries to create tables", real, async () => {
  await using tmp = await tmpdir({ git: true })
  await using database = await tmpDatabase()
  const { out } = await vitamin(tmp, ["doctor", "--database", database.url])
  assert.match(out, /^note +database .*: empty; the first server/m)
  assert.doesNotMatch(out, /^bad +database/m)
  assert.deepEqual(await database.query("select 1 from pg_namespace where nspname like 'vitamin%'"), [])
})
