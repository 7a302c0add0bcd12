// `vitamin storage copy` moves the objects of sessions too: what an undo needs, long outputs and images. Each machine is
// a set of homes of its own; the project folder is the same.
import assert from "node:assert/strict"
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { startVitamin, vitamin } from "../../../fixture/cli.ts"
import { call, env, fakeLlm, type Request, text } from "../../../fixture/fake-llm.ts"
import { image } from "../../../fixture/images.ts"
import { noPostgres, type TmpDatabase, tmpDatabase } from "../../../fixture/postgres.ts"
import { type Tmp, tmpdir } from "../../../fixture/tmpdir.ts"
import { until } from "../../../fixture/until.ts"
import { homesOf } from "./worker.ts"

const real = { skip: noPostgres, timeout: 180_000 }
const VITAMIN_CONFIG = JSON.stringify({
  provider: { openai: { models: { "fake-model": { input: ["text", "image"] } } } },
})

/** The command on a machine, with records in files or, with a database, there. */
function machine(tmp: Tmp, name: string, variables: Record<string, string> = {}) {
  const homes = homesOf(tmp, name)
  const run = async (args: string[], more: Record<string, string> = {}) => {
    const done = await vitamin(tmp, args, { ...homes, ...variables, ...more })
    assert.equal(done.code, 0, `${args.join(" ")}: ${done.err}`)
    return done
  }
  return { run, homes, data: join(homes.XDG_DATA_HOME!, "vitamin") }
}

async function sessionOf({ run }: ReturnType<typeof machine>): Promise<string> {
  return JSON.parse((await run(["session", "list", "--format", "json"])).out)[0].id
}

/** Waits until a statement that a test holds up is reached, and kills the process there. */
async function killAtSleep(database: TmpDatabase, child: ReturnType<typeof startVitamin>) {
  const sleeping =
    "select pid from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()"
  await until(async () => (await database.query(sleeping)).length, "the held statement")
  child.process.kill("SIGKILL")
  assert.equal(await child.exit, "SIGKILL")
  await database.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()",
  )
  await until(async () => (await database.query(sleeping)).length === 0, "the end of the statement")
}

test(
  "after storage copy, other machines undo a session's changes, read its long output and send its image, with a database and with files",
  real,
  async () => {
    await using tmp = await tmpdir({ git: true })
    await using database = await tmpDatabase()
    const pathIn = (request: Request) => /in (\/\S+\.txt), which read/.exec(JSON.stringify(request))![1]!
    const reading = [
      (request: Request) => call("grep", { path: pathIn(request), pattern: "^15000$" }),
      text("Found."),
    ]
    await using llm = await fakeLlm([
      call("bash", { command: "echo changed > README.md; seq 1 30000" }),
      text("Done."),
      ...reading,
      ...reading,
    ])
    const variables = { ...env(llm, "chat").variables, VITAMIN_CONFIG }
    const one = machine(tmp, "one", variables)
    const two = machine(tmp, "two", { ...variables, VITAMIN_DATABASE: database.url })
    const three = machine(tmp, "three", variables)
    tmp.write("note.png", image("note.png"))
    await one.run(["run", "--yes", "--image", "note.png", "Change it."])
    const id = await sessionOf(one)

    const set = { VITAMIN_DATABASE: database.url }
    const there = await one.run(["storage", "copy", "files", "database"], set)
    const [, count] = /^\d+ records .*\n(\d+) objects .*; \1 of them were written now/.exec(there.out) ?? []
    assert.ok(Number(count) >= 3, there.out)
    assert.match(there.err, /Not copied: the event log/)
    const back = await three.run(["storage", "copy", "database", "files"], set)
    assert.match(back.out, new RegExp(`\n${count} objects .*; ${count} of them were written now`))
    for (const by of [one, three])
      assert.match(
        (await by.run(["storage", "copy", "files", "database"], set)).out,
        new RegExp(`\n${count} objects .*; 0 of`),
      )

    // The other machines do not have the disk of the first one.
    renameSync(one.data, `${one.data}-away`)
    for (const other of [two, three]) {
      tmp.write("README.md", "changed\n")
      await other.run(["session", "revert", id])
      assert.equal(readFileSync(join(tmp.path, "README.md"), "utf8"), "# fixture\n", other.data)
      await other.run(["session", "redo", id])
      const before = llm.requests.length
      await other.run(["run", "--session", id, "Is 15000 in it?"])
      const sent = JSON.stringify(llm.requests.slice(before).map(({ body }) => body))
      assert.match(sent, /\b15000\b/, "the long output")
      assert.equal(sent.includes(image("note.png").toString("base64")), true, "the image")
    }
  },
)

test(
  "storage copy continues after kill -9, in both directions, and keeps objects that only the target has",
  real,
  async () => {
    await using tmp = await tmpdir({ git: true })
    await using database = await tmpDatabase()
    await using llm = await fakeLlm([text("Hello.")])
    const one = machine(tmp, "one", { ...env(llm, "chat").variables })
    const two = machine(tmp, "two")
    const set = { VITAMIN_DATABASE: database.url }
    await one.run(["run", "Say hello."])
    const id = await sessionOf(one)
    const outputs = join(one.data, "outputs", id)
    mkdirSync(outputs, { recursive: true })
    const names = ["a.txt", "b.txt", "c.txt", "d.txt"]
    for (const name of names) writeFileSync(join(outputs, name), `the output ${name}\n`)

    // Tables of an empty database; the third object waits in its transaction.
    await two.run(["session", "list"], set)
    await database.query(`
      create function vitamin.hold() returns trigger language plpgsql as $$ begin
        if new.name like '%/c.txt' then perform pg_sleep(60); end if; return new; end $$;
      create trigger hold before insert on vitamin.object_use for each row execute function vitamin.hold()`)
    await using first = startVitamin(tmp, ["storage", "copy", "files", "database"], { ...one.homes, ...set })
    await killAtSleep(database, first)
    await database.query("drop trigger hold on vitamin.object_use")
    const stored = () => database.query("select name from vitamin.object_use where owner = $1", [id])
    assert.equal((await stored()).length, 2)
    assert.deepEqual(await database.query("select * from vitamin.record where parent like 'session/%'"), [])
    assert.match(
      (await one.run(["storage", "copy", "files", "database"], set)).out,
      /\n4 objects .*; 2 of them were written now/,
    )

    // Back: the third object waits to be read.
    await database.query("alter table vitamin.object_chunk rename to chunks")
    await database.query(`create view vitamin.object_chunk as select hash, number, bytes from vitamin.chunks
      where hash not in (select hash from vitamin.object_use where name like '%/c.txt') or pg_sleep(60)::text = ''`)
    await using second = startVitamin(tmp, ["storage", "copy", "database", "files"], { ...two.homes, ...set })
    await killAtSleep(database, second)
    await database.query("drop view vitamin.object_chunk")
    await database.query("alter table vitamin.chunks rename to object_chunk")
    const copies = join(two.data, "outputs", id)
    assert.deepEqual(readdirSync(copies).sort(), names.slice(0, 2))
    assert.equal(existsSync(join(two.data, "storage/session")), false)
    // What a killed process left, and an output that only this machine has.
    writeFileSync(join(copies, "c.txt.01234567-0123-4123-8123-0123456789ab.tmp"), "the out")
    writeFileSync(join(copies, "own.txt"), "of this machine\n")
    const done = await two.run(["storage", "copy", "database", "files"], set)
    assert.match(done.out, /\n4 objects .*; 2 of them were written now/)
    for (const name of names) assert.equal(readFileSync(join(copies, name), "utf8"), `the output ${name}\n`)
    assert.equal(readFileSync(join(copies, "own.txt"), "utf8"), "of this machine\n")
    assert.match((await two.run(["storage", "copy", "files", "database"], set)).out, /\n5 objects .*; 1 of/)
  },
)

test(
  "storage copy refuses a target whose object differs before it writes anything, and --overwrite replaces it",
  real,
  async () => {
    await using tmp = await tmpdir({ git: true })
    await using database = await tmpDatabase()
    await using llm = await fakeLlm([text("Hello.")])
    const one = machine(tmp, "one", env(llm, "chat").variables)
    const set = { VITAMIN_DATABASE: database.url }
    await one.run(["run", "Say hello."])
    const id = await sessionOf(one)
    const outputs = join(one.data, "outputs", id)
    mkdirSync(outputs, { recursive: true })
    for (const name of ["a.txt", "b.txt"]) writeFileSync(join(outputs, name), `first ${name}\n`)
    await one.run(["storage", "copy", "files", "database"], set)

    writeFileSync(join(outputs, "a.txt"), "only here\n")
    writeFileSync(join(outputs, "b.txt"), "changed\n")
    await database.query("delete from vitamin.object_use where name like '%/a.txt'")
    const refused = await vitamin(tmp, ["storage", "copy", "files", "database"], { ...one.homes, ...set })
    assert.equal(refused.code, 1)
    assert.match(
      refused.err,
      new RegExp(
        `^vitamin: Object /output/${id}/b\\.txt of session ${id} differs in the target.*--overwrite`,
      ),
    )
    const names = () => database.query<{ name: string }>("select name from vitamin.object_use order by name")
    assert.deepEqual(await names(), [{ name: `/output/${id}/b.txt` }])
    await one.run(["storage", "copy", "files", "database", "--overwrite"], set)
    assert.equal((await names()).length, 2)
    const two = machine(tmp, "two")
    await two.run(["storage", "copy", "database", "files"], set)
    assert.equal(readFileSync(join(two.data, "outputs", id, "b.txt"), "utf8"), "changed\n")

    // Bytes that the source has lost are counted.
    await database.query("update vitamin.object_chunk set bytes = 'x' where bytes = 'changed\n'::bytea")
    const three = machine(tmp, "three")
    const broken = await vitamin(tmp, ["storage", "copy", "database", "files"], { ...three.homes, ...set })
    assert.match(broken.err, /^Not copied: 1 object that the source has no longer, or damaged/m)
  },
)
