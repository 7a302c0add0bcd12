// Snapshots and kept outputs on several machines: `vitamin serve --database` as processes with homes of their own, on one
// PostgreSQL and one folder.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { call, env, fakeLlm, type Request, text } from "../../../fixture/fake-llm.ts"
import { noPostgres, tmpDatabase } from "../../../fixture/postgres.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"
import { startWorker } from "./worker.ts"

const real = { skip: noPostgres, timeout: 120_000 }
const ask = (words: string) => ({ parts: [{ type: "text" as const, text: words }] })

test(
  "a server undoes what a session changed on another server, whose data folder it does not have",
  real,
  async () => {
    await using tmp = await tmpdir({ git: true })
    await using database = await tmpDatabase()
    tmp.write("kept.txt", "untracked before\n")
    await using llm = await fakeLlm([
      call("write", { path: "kept.txt", content: "written by the agent\n" }),
      call("bash", { command: "echo changed > README.md; rm kept.txt" }),
      text("Done."),
    ])
    const { variables } = env(llm, "chat")
    await using one = await startWorker(tmp, "one", { database, variables })
    await using two = await startWorker(tmp, "two", { database, variables })
    const session = await one.client.createSession({})
    await one.client.promptSession({ id: session.id, ...ask("Change it."), asks: "once" })
    await one.stop()
    assert.equal(readFileSync(join(tmp.path, "README.md"), "utf8"), "changed\n")

    const [prompt] = await two.client.listMessages({ id: session.id })
    const { restored, conflicts } = await two.client.revertSession({ id: session.id, messageId: prompt!.id })
    assert.deepEqual(conflicts, [])
    assert.deepEqual(restored.toSorted(), ["README.md", "kept.txt"])
    assert.equal(readFileSync(join(tmp.path, "kept.txt"), "utf8"), "untracked before\n")
    assert.equal(readFileSync(join(tmp.path, "README.md"), "utf8"), "# fixture\n")

    await two.client.removeSession({ id: session.id })
    for (const table of ["object", "object_chunk", "object_use"])
      assert.deepEqual(await database.query(`select * from vitamin.${table}`), [], table)
  },
)

test(
  "a server reads the long output of a tool that ran on another server, by the path that the model was told",
  real,
  async () => {
    await using tmp = await tmpdir({ git: true })
    await using database = await tmpDatabase()
    const pathIn = (request: Request) => /in (\/\S+\.txt), which read/.exec(JSON.stringify(request))![1]!
    await using llm = await fakeLlm([
      call("bash", { command: "seq 1 30000; echo the-end" }),
      text("It is long."),
      (request) => call("grep", { path: pathIn(request), pattern: "^15000$" }),
      text("Found."),
    ])
    const { variables } = env(llm, "chat")
    await using one = await startWorker(tmp, "one", { database, variables })
    await using two = await startWorker(tmp, "two", { database, variables })
    const session = await one.client.createSession({})
    await one.client.promptSession({ id: session.id, ...ask("Count."), asks: "once" })
    await one.stop()
    await two.client.promptSession({ id: session.id, ...ask("Is 15000 in it?") })
    const results = (await two.client.listMessages({ id: session.id })).filter(
      ({ type }) => type === "tool_result",
    )
    assert.match(JSON.stringify(results.at(-1)), /15000:?/)
    assert.match(JSON.stringify(results.at(-1)), /"status":"success"/)
  },
)
