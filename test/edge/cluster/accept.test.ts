// A prompt and its job are stored together: a server that dies meanwhile leaves neither, or both. The record of the prompt
// goes together with its first message: a worker that dies meanwhile leaves one of them.
import assert from "node:assert/strict"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import pg from "pg"
import { whyNot } from "../../ability/sandbox/world.ts"
import { fakeLlm, text } from "../../fixture/fake-llm.ts"
import { networkTo } from "../../fixture/network-cut.ts"
import { noPostgres } from "../../fixture/postgres.ts"
import { until } from "../../fixture/until.ts"
import { newSession, startFleet, story } from "./harness.ts"

test("a server that is killed while it adds the job of a prompt leaves no waiting prompt", {
  skip: noPostgres,
}, async () => {
  await using llm = await fakeLlm([text("The second prompt.")])
  await using fleet = await startFleet(2, llm)
  const [first, other] = fleet.workers
  const id = await newSession(first!)
  const client = new pg.Client({ connectionString: fleet.database.url })
  await client.connect()
  const waiting = `select 1 from pg_locks l join pg_stat_activity a using (pid)
    where not l.granted and l.relation = 'vitamin_jobs.workflow_status'::regclass and a.application_name = $1`
  const name = `vitamin ${first!.child.process.pid}`
  try {
    // Nobody can add a job until the lock is gone.
    await client.query("begin; lock table vitamin_jobs.workflow_status in share row exclusive mode")
    const lost = first!
      .call("POST", `/session/${id}/message`, { text: "The first prompt." })
      .catch(() => "lost")
    await until(async () => (await fleet.database.query(waiting, [name])).length, "the job that waits")
    first!.signal("SIGKILL")
    assert.equal(await lost, "lost")
    await first!.child.exit
  } finally {
    await client.end()
  }
  const open = "select 1 from pg_stat_activity where application_name = $1"
  await until(async () => !(await fleet.database.query(open, [name])).length, "the end of its connections")
  assert.deepEqual((await other!.call("GET", `/session/${id}/prompt`)).body, [])
  assert.deepEqual(await fleet.database.query("select 1 from vitamin_jobs.workflow_status"), [])
  const answer = await other!.call("POST", `/session/${id}/message`, { text: "The second prompt." })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  assert.deepEqual(await story(other!, id), ["user: The second prompt.", "assistant: The second prompt."])
})

test("a prompt whose commit is not answered is added again if the database has lost it", {
  skip: noPostgres,
}, async () => {
  await using llm = await fakeLlm(() => text("Done."))
  await using fleet = await startFleet(0, llm)
  const url = new URL(fleet.database.url)
  await using network = await networkTo(Number(url.port))
  url.port = String(network.port)
  const worker = await fleet.start({ database: url.href })
  const id = await newSession(worker)
  const query = fleet.database.query
  const gate = new pg.Client({ connectionString: fleet.database.url })
  await gate.connect()
  await gate.query("select pg_advisory_lock(7)")
  await query(`create function wait() returns trigger language plpgsql as $$
      begin perform pg_advisory_xact_lock(7); return null; end $$;
    create constraint trigger wait after insert on vitamin.record deferrable initially deferred
      for each row when (new.parent like 'job/%') execute function wait()`)
  const sent = worker.call("POST", `/session/${id}/message`, { text: "Do it." }, { prefer: "respond-async" })
  const waits = "select from pg_locks where locktype = 'advisory' and objid = 7 and not granted"
  await until(async () => (await query(waits)).length, "the commit")
  network.cut()
  await gate.end()
  await until(async () => (await query("select from vitamin_jobs.workflow_status")).length, "the job")
  // A crash may lose a transaction and give its id to another one, which is committed.
  await query("delete from vitamin_jobs.workflow_status")
  await query("delete from vitamin.record where parent like 'job/%'")
  network.mend()
  assert.equal((await sent).status, 202)
  await until(async () => (await story(worker, id)).at(-1) === "assistant: Done.", "the answer")
})

/** Writes down, at each commit of a message that begins a prompt, whether the record of the prompt is still there. */
const watchBegun = `
  create table public.begun (type text, left_over boolean);
  create function public.watch_begun() returns trigger language plpgsql as $$
    declare prompt text := new.body::json->>'promptId';
    begin
      if new.parent like 'message/%' and prompt is not null then
        insert into public.begun select new.body::json->>'type', exists (
          select 1 from vitamin.record where parent like 'job/%' and name = prompt);
      end if;
      return null;
    end $$;
  create constraint trigger watch_begun after insert on vitamin.record
    deferrable initially deferred for each row execute function public.watch_begun()`

for (const { where, args, skip } of [
  { where: "", args: [], skip: noPostgres },
  { where: " in the sandbox", args: ["--sandbox"], skip: noPostgres || (whyNot("user") ?? false) },
])
  test(`the first message of a prompt and the end of its record are committed together${where}`, {
    skip,
  }, async () => {
    await using llm = await fakeLlm(() => text("Seen."))
    await using fleet = await startFleet(0, llm)
    fleet.tmp.write("a.txt", "a\n")
    const worker = await fleet.start({ args })
    await fleet.database.query(watchBegun)
    const id = await newSession(worker)
    const file = { type: "file_reference", path: "a.txt" }
    for (const body of [{ text: "Look." }, { parts: [file] }]) {
      const answer = await worker.call("POST", `/session/${id}/message`, body)
      assert.equal(answer.status, 200, JSON.stringify(answer.body))
    }
    assert.deepEqual(await fleet.database.query("select * from public.begun order by type"), [
      { type: "file_reference", left_over: false },
      { type: "text", left_over: false },
    ])
  })

test("a prompt that is removed while it starts does not begin", { skip: noPostgres }, async () => {
  await using llm = await fakeLlm(() => text("An answer."))
  await using fleet = await startFleet(0, llm)
  const command = "touch started; until [ -e go ]; do sleep 0.05; done"
  const hooks = { UserPromptSubmit: [{ hooks: [{ type: "command", command }] }] }
  fleet.tmp.write(".vitamin/hooks.json", JSON.stringify({ hooks }))
  const worker = await fleet.start()
  const id = await newSession(worker)
  const asked = worker.call("POST", `/session/${id}/message`, { text: "Look." })
  await until(() => existsSync(join(fleet.tmp.path, "started")), "the start")
  // As a server does that does not know yet which worker has the session.
  await fleet.database.query("delete from vitamin.record where parent like 'job/%'")
  fleet.tmp.write("go", "")
  const { status, body } = await asked
  assert.equal(status, 409, JSON.stringify(body))
  assert.equal(body.error.name, "Prompt.Interrupted")
  assert.deepEqual(await story(worker, id), [])
})

test("a prompt with an unknown command is refused before it is stored", { skip: noPostgres }, async () => {
  await using llm = await fakeLlm([text("An answer.")])
  await using fleet = await startFleet(1, llm)
  const [worker] = fleet.workers
  const id = await newSession(worker!)
  for (const headers of [undefined, { prefer: "respond-async" }]) {
    const { status, body } = await worker!.call("POST", `/session/${id}/message`, { text: "/none" }, headers)
    assert.equal(status, 400, JSON.stringify(body))
    assert.equal(body.error.name, "Session.UnknownCommand")
  }
  assert.deepEqual((await worker!.call("GET", `/session/${id}/prompt`)).body, [])
})
