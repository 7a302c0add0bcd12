// `vitamin serve` on databases that it cannot use, or no longer: one line that says what to do, nothing hangs, nothing is
// lost. Real processes, a real PostgreSQL.
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer, type Socket } from "node:net"
import { tmpdir as systemTmp } from "node:os"
import { join } from "node:path"
import { test } from "node:test"
import { createClient, createHttpTransport } from "#client/client.ts"
import { serving, vitamin } from "../../fixture/cli.ts"
import { env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { networkTo } from "../../fixture/network-cut.ts"
import { cluster, noPostgres, password, tmpDatabase } from "../../fixture/postgres.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"

const real = { skip: noPostgres, timeout: 120_000 }
const notRoot = process.getuid?.() === 0 ? false : "needs root to mount a small file system"

async function start(tmp: Tmp, variables: Record<string, string>) {
  const { child, url, tokenFile } = await serving(tmp, [], variables)
  const token = readFileSync(tokenFile, "utf8").trim()
  const client = createClient(createHttpTransport({ url, token, directory: tmp.path }))
  return { child, client, [Symbol.asyncDispose]: () => child[Symbol.asyncDispose]() }
}

/** What `vitamin serve` says when it refuses a database: one line, without the password. */
async function refusal(tmp: Tmp, url: string, more: Record<string, string> = {}): Promise<string> {
  const { code, out, err } = await vitamin(tmp, ["serve", "--port", "0"], { VITAMIN_DATABASE: url, ...more })
  assert.deepEqual([code, out, err.includes(password)], [1, "", false], err)
  assert.match(err, /^vitamin: [^\n]+\n$/)
  return err
}

test(
  "vitamin serve refuses a database that does not answer, is too old, read-only or too new",
  real,
  async () => {
    await using tmp = await tmpdir({ git: true })
    await using database = await tmpDatabase()
    const name = new URL(database.url).pathname.slice(1)
    const { port } = await cluster()

    const sockets = new Set<Socket>()
    const silent = createServer((socket) => void sockets.add(socket)).listen(0, "127.0.0.1")
    await once(silent, "listening")
    const { port: mute } = silent.address() as { port: number }
    assert.match(
      await refusal(tmp, database.url.replace(`:${port}/`, `:${mute}/`)),
      /cannot be used: it does not answer; start it, or look at the network in between$/m,
    )
    for (const socket of sockets) socket.destroy()
    silent.close()

    // A server that calls itself 12.
    await using old = await networkTo(port, (answer) => {
      const facts = answer.toString("latin1")
      for (const [, version] of facts.matchAll(/\0\0\0\x06(1[3-9])\d{4}/g)) {
        const at = facts.indexOf(version!, 0)
        for (let i = at; i >= 0; i = facts.indexOf(version!, i + 1)) answer.write("12", i, "latin1")
      }
      return true
    })
    assert.match(
      await refusal(tmp, database.url.replace(`:${port}/`, `:${old.port}/`)),
      /cannot be used: it is PostgreSQL 12\.\d.*, and 13 or later is needed\. Upgrade it, or name another one$/m,
    )

    await database.query(`alter database ${name} set default_transaction_read_only = on`)
    assert.match(await refusal(tmp, database.url), /it is read-only \(.*\)\. Name the primary server$/m)
    await database.query(
      `begin read write; alter database ${name} reset default_transaction_read_only; commit`,
    )
    assert.deepEqual(await database.query("select 1 from pg_namespace where nspname = 'vitamin'"), [])

    assert.equal((await vitamin(tmp, ["session", "list"], { VITAMIN_DATABASE: database.url })).code, 0)
    await database.query("update vitamin.version set version = 99, oldest = 98")
    assert.match(
      await refusal(tmp, database.url),
      /its tables have version 99, and this vitamin knows up to \d+\. Upgrade this vitamin$/m,
    )
    await database.query("update vitamin.version set oldest = 2")
    assert.equal((await vitamin(tmp, ["session", "list"], { VITAMIN_DATABASE: database.url })).code, 0)
  },
)

test(
  "vitamin does not change the tables under servers of an older version, and moves what waits",
  real,
  async () => {
    await using tmp = await tmpdir({ git: true })
    await using database = await tmpDatabase()
    const list = () => vitamin(tmp, ["session", "list"], { VITAMIN_DATABASE: database.url })
    assert.equal((await list()).code, 0)
    // The tables of version 9.
    await database.query(`update vitamin.version set version = 9, oldest = 5;
    alter table vitamin.worker drop column silent_from, drop column silent_to;
    alter table vitamin.attempt drop column last;
    insert into vitamin.worker (id, seen) values ('an old server', 'infinity');
    insert into vitamin.record (parent, name, body)
      values ('prompt', 'prm_1', '{"id":"prm_1","sessionId":"sess_1","isJob":true}'),
        ('prompt', 'prm_2', '{"id":"prm_2","sessionId":"sess_1"}')`)
    assert.match(
      await refusal(tmp, database.url),
      /servers of an older version run on it \(an old server\), which cannot use the tables of this one\. Stop them first$/m,
    )
    await database.query("delete from vitamin.worker")
    assert.equal((await list()).code, 0)
    const moved = "select parent, name from vitamin.record where name like 'prm_%' order by name"
    assert.deepEqual(await database.query(moved), [
      { parent: "job/sess_1", name: "prm_1" },
      { parent: "prompt", name: "prm_2" },
    ])
  },
)

test("vitamin refuses the database of another fleet, and names both", real, async () => {
  await using tmp = await tmpdir({ git: true })
  await using database = await tmpDatabase()
  await using other = await tmpDatabase()
  const set = { VITAMIN_DATABASE: database.url }
  {
    await using server = await start(tmp, { ...set, VITAMIN_FLEET: "team-a" })
    await server.client.createSession({ title: "of team a" })
    assert.match(
      await refusal(tmp, database.url, { VITAMIN_FLEET: "team-b" }),
      /it belongs to the fleet team-a, and VITAMIN_FLEET is team-b here\. Name another database, or set VITAMIN_FLEET=team-a$/m,
    )
    assert.match(await refusal(tmp, database.url), /the fleet team-a, and VITAMIN_FLEET is not set here/)
  }
  const listed = await vitamin(tmp, ["session", "list"], { ...set, VITAMIN_FLEET: "team-a" })
  assert.match(listed.out, /of team a/)
  assert.equal((await vitamin(tmp, ["session", "list"], set)).code, 1)
  const doctor = await vitamin(tmp, ["doctor"], { ...set, VITAMIN_FLEET: "team-a" })
  assert.match(doctor.out, /^ok +database .*, fleet team-a: \d+ records/m)

  await vitamin(tmp, ["session", "list"], { VITAMIN_DATABASE: other.url })
  assert.match(
    await refusal(tmp, other.url, { VITAMIN_FLEET: "team-b" }),
    /it belongs to servers without the name of a fleet, and VITAMIN_FLEET is team-b here/,
  )
  assert.match(
    await refusal(tmp, other.url, { VITAMIN_FLEET: "it's" }),
    /^vitamin: VITAMIN_FLEET is refused: "it's" is not a name of letters, digits, dots and hyphens, at most 63$/m,
  )
})

test(
  "a server whose database becomes read-only says so, keeps what there is, and goes on afterwards",
  real,
  async () => {
    await using tmp = await tmpdir({ git: true })
    await using database = await tmpDatabase()
    await using llm = await fakeLlm([text("One."), text("Two.")])
    const name = new URL(database.url).pathname.slice(1)
    const end = `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}' and pid <> pg_backend_pid()`
    await using server = await start(tmp, { ...env(llm, "chat").variables, VITAMIN_DATABASE: database.url })
    const { id } = await server.client.createSession({ title: "kept" })
    await server.client.promptSession({ id, text: "first" })
    await database.query(`alter database ${name} set default_transaction_read_only = on`)
    await database.query(end)
    await assert.rejects(server.client.createSession({ title: "refused" }), {
      name: "Storage.WriteFailed",
      message: new RegExp(
        `^Record \\S+ could not be written to the database ${name} at 127\\.0\\.0\\.1:\\d+: it is read-only; name the primary server, .*; the old value stays`,
      ),
    })
    assert.deepEqual(
      (await server.client.listSessions({})).map(({ title }) => title),
      ["kept"],
    )
    await database.query(
      `begin read write; alter database ${name} reset default_transaction_read_only; commit`,
    )
    await database.query(end)
    await server.client.promptSession({ id, text: "second" })
    assert.match(JSON.stringify(await server.client.listMessages({ id })), /One\..*Two\./)
  },
)

test("a server whose database has no space left says so, loses nothing, and goes on when there is", {
  ...real,
  skip: noPostgres || notRoot,
}, async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("One."), text("Two."), text("Three.")])
  const { port } = await cluster()
  await using admin = await tmpDatabase()
  // Another user than that of the tests owns it.
  const disk = mkdtempSync(join(systemTmp(), "vitamin-disk-"))
  chmodSync(disk, 0o755)
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=40m,mode=777", "tmpfs", disk])
  try {
    const place = join(disk, "space")
    mkdirSync(place)
    execFileSync("chown", ["--reference", await dataFolder(admin), place])
    const name = `small_${process.pid}`
    await admin.query(`create tablespace ${name} location '${place}'`)
    await admin.query(`create database ${name} template template0 tablespace ${name}`)
    try {
      const url = `postgres://vitamin:${password}@127.0.0.1:${port}/${name}`
      await using server = await start(tmp, { ...env(llm, "chat").variables, VITAMIN_DATABASE: url })
      const { id } = await server.client.createSession({ title: "kept" })
      await server.client.promptSession({ id, text: "first" })
      const ballast = join(disk, "ballast")
      assert.throws(() => writeFileSync(ballast, Buffer.alloc(64 << 20)), { code: "ENOSPC" })
      // More than fits into the pages that the tables have.
      const large = randomBytes(64 << 10).toString("base64")
      await assert.rejects(server.client.promptSession({ id, text: large }), {
        message: /its disk is full; make room there, and it goes on/,
      })
      rmSync(ballast)
      await server.client.promptSession({ id, text: large })
      assert.match(JSON.stringify(await server.client.listMessages({ id })), /One\./)
      server.child.process.kill("SIGTERM")
      assert.equal(await server.child.exit, 143, server.child.errors())
    } finally {
      await admin.query(`drop database if exists ${name} with (force)`)
      await admin.query(`drop tablespace if exists ${name}`)
    }
  } finally {
    execFileSync("umount", ["-l", disk])
    rmSync(disk, { recursive: true, force: true })
  }
})

async function dataFolder(database: { query<T>(sql: string): Promise<T[]> }): Promise<string> {
  const [row] = await database.query<{ folder: string }>("select current_setting('data_directory') as folder")
  return row!.folder
}

test("a server ends within seconds of SIGTERM while its database is away", real, async () => {
  await using tmp = await tmpdir({ git: true })
  await using database = await tmpDatabase()
  const { port } = await cluster()
  await using network = await networkTo(port)
  const url = database.url.replace(`:${port}/`, `:${network.port}/`)
  await using server = await start(tmp, { VITAMIN_DATABASE: url })
  await server.client.createSession({ title: "kept" })
  network.cut()
  const failed = server.client.createSession({ title: "lost" }).catch((error: Error) => error.message)
  server.child.process.kill("SIGTERM")
  const hung = setTimeout(() => server.child.process.kill("SIGKILL"), 80_000)
  assert.equal(await server.child.exit, 143, server.child.errors())
  clearTimeout(hung)
  assert.ok(await failed)
  assert.equal(
    (await database.query("select name from vitamin.record where parent like 'session/%'")).length,
    1,
  )
})

test(
  "a server whose database is away says so to a client that reads, and goes on afterwards",
  real,
  async () => {
    await using tmp = await tmpdir({ git: true })
    await using database = await tmpDatabase()
    const postgres = await cluster()
    await using server = await start(tmp, { VITAMIN_DATABASE: database.url })
    const { id } = await server.client.createSession({ title: "kept" })
    const began = performance.now()
    await postgres.stop()
    try {
      await assert.rejects(server.client.getSession({ id }), {
        name: "Database.Unreachable",
        message:
          /^The database \S+ at \S+ cannot be used: nobody answers there \(ECONNREFUSED\); start it, or correct/,
      })
    } finally {
      await postgres.start()
    }
    assert.equal((await server.client.getSession({ id })).title, "kept")
    // It is logged once, and once a minute if it lasts.
    const said = () => server.child.errors().split("\n")
    const { pathname: name } = new URL(database.url)
    await until(() => said().includes("warning: heartbeats arrive again"), "the line about the end")
    const failed = said().filter((line) => line.startsWith("warning: a heartbeat failed: "))
    assert.match(failed[0]!, new RegExp(`: The database ${name.slice(1)} at \\S+ cannot be used: `))
    assert.ok(failed.length <= 1 + (performance.now() - began) / 60_000, failed.join("\n"))
  },
)
