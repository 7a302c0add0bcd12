// Snapshots and kept outputs on several machines: `vitamin serve --database` as processes with homes of their own, on one
// PostgreSQL and one folder. The bytes are in the database, or in a bucket of a real S3-like server.
import assert from "node:assert/strict"
import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { call, env, fakeLlm, type Request, text } from "../../../fixture/fake-llm.ts"
import { noPostgres, tmpDatabase } from "../../../fixture/postgres.ts"
import { secretKey, tmpBucket } from "../../../fixture/s3.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"
import { startWorker } from "./worker.ts"

const real = { skip: noPostgres, timeout: 120_000 }
const ask = (words: string) => ({ parts: [{ type: "text" as const, text: words }] })

for (const kind of ["database", "bucket"] as const) {
  test(
    `a server undoes what a session changed on another server, whose data folder it does not have (${kind})`,
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
      await using bucket = await tmpBucket()
      const place = kind === "bucket" ? bucket.variables : {}
      const variables = { ...env(llm, "chat").variables, ...place }
      await using one = await startWorker(tmp, "one", { database, variables })
      const session = await one.client.createSession({})
      await one.client.promptSession({ id: session.id, ...ask("Change it."), asks: "once" })
      await one.stop()
      // It takes no job of the first prompt, so it has no copy of the bytes.
      await using two = await startWorker(tmp, "two", { database, variables })
      assert.equal(readFileSync(join(tmp.path, "README.md"), "utf8"), "changed\n")

      const chunks = await database.query("select 1 from vitamin.object_chunk")
      assert.deepEqual(
        [chunks.length > 0, bucket.files().length > 0],
        [kind === "database", kind === "bucket"],
      )
      const [prompt] = await two.client.listMessages({ id: session.id })
      const { restored, conflicts } = await two.client.revertSession({
        id: session.id,
        messageId: prompt!.id,
      })
      assert.deepEqual(conflicts, [])
      assert.deepEqual(restored.toSorted(), ["README.md", "kept.txt"])
      assert.equal(readFileSync(join(tmp.path, "kept.txt"), "utf8"), "untracked before\n")
      assert.equal(readFileSync(join(tmp.path, "README.md"), "utf8"), "# fixture\n")

      await two.client.removeSession({ id: session.id })
      for (const table of ["object", "object_chunk", "object_use"])
        assert.deepEqual(await database.query(`select * from vitamin.${table}`), [], table)
      assert.deepEqual(bucket.files(), [])
    },
  )

  test(
    `a server reads the long output of a tool that ran on another server, by the path that the model was told (${kind})`,
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
      await using bucket = await tmpBucket()
      const place = kind === "bucket" ? bucket.variables : {}
      const variables = { ...env(llm, "chat").variables, ...place }
      await using one = await startWorker(tmp, "one", { database, variables })
      const session = await one.client.createSession({})
      await one.client.promptSession({ id: session.id, ...ask("Count."), asks: "once" })
      await one.stop()
      // It takes no job of the first prompt, so it has no copy of the bytes.
      await using two = await startWorker(tmp, "two", { database, variables })
      await two.client.promptSession({ id: session.id, ...ask("Is 15000 in it?") })
      const results = (await two.client.listMessages({ id: session.id })).filter(
        ({ type }) => type === "tool_result",
      )
      assert.match(JSON.stringify(results.at(-1)), /15000:?/)
      assert.match(JSON.stringify(results.at(-1)), /"status":"success"/)
    },
  )
}

test(
  "an object that is gone from the bucket, or has other bytes, is refused by name, and commands do not get the keys",
  real,
  async () => {
    await using tmp = await tmpdir({ git: true })
    await using database = await tmpDatabase()
    await using bucket = await tmpBucket()
    const pathIn = (request: Request) => /in (\/\S+\.txt), which read/.exec(JSON.stringify(request))![1]!
    const again = [
      (request: Request) => call("grep", { path: pathIn(request), pattern: "^15000$" }),
      text("Looked."),
    ]
    await using llm = await fakeLlm([
      call("bash", { command: "seq 1 30000; env | grep ^AWS" }),
      text("It is long."),
      ...again,
      ...again,
      call("bash", { command: "env | grep -E '^(AWS|VITAMIN_OBJECTS)'" }),
      text("No keys."),
    ])
    const variables = { ...env(llm, "chat").variables, ...bucket.variables }
    await using one = await startWorker(tmp, "one", { database, variables })
    const session = await one.client.createSession({})
    await one.client.promptSession({ id: session.id, ...ask("Count."), asks: "once" })
    await one.stop()
    // It takes no job of the first prompt, so it has no copy of the output.
    await using two = await startWorker(tmp, "two", { database, variables })
    const answer = async (words: string) => {
      await two.client.promptSession({ id: session.id, ...ask(words), asks: "once" })
      const messages = await two.client.listMessages({ id: session.id })
      return JSON.stringify(messages.filter(({ type }) => type === "tool_result").at(-1))
    }

    const file = bucket.files().find((one) => readFileSync(one, "utf8").includes("\n15000\n"))
    const bytes = readFileSync(file!)
    assert.equal(bytes.includes(secretKey), false)
    writeFileSync(file!, bytes.fill("x", 0, 1))
    assert.match(await answer("Is 15000 in it?"), /has other bytes than its hash [0-9a-f]{64} says/)
    rmSync(file!)
    assert.match(
      await answer("And now?"),
      /The object \/output\/sess_\w+\/\S+ cannot be used: \S+ is gone from s3:\/\/team/,
    )
    const shown = await answer("Show the variables.")
    assert.match(shown, /VITAMIN_OBJECTS=s3:/)
    assert.doesNotMatch(shown, /AWS_(ACCESS_KEY_ID|SECRET_ACCESS_KEY)=/)
    for (const server of [one, two]) assert.equal(server.child.errors().includes(secretKey), false)
  },
)
