// Backup and restore as docs/cluster.md describes them: pg_dump of a fleet at work, pg_restore into another database.
import assert from "node:assert/strict"
import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { promisify } from "node:util"
import { createClient, createHttpTransport } from "#client/client.ts"
import { serving, vitamin } from "../../fixture/cli.ts"
import { env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { bin, noPostgres, tmpDatabase } from "../../fixture/postgres.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"

const run = promisify(execFile)

async function start(tmp: Tmp, variables: Record<string, string>) {
  const { child, url, tokenFile } = await serving(tmp, [], variables)
  const token = readFileSync(tokenFile, "utf8").trim()
  const client = createClient(createHttpTransport({ url, token, directory: tmp.path }))
  return { child, client, [Symbol.asyncDispose]: () => child[Symbol.asyncDispose]() }
}

test("a backup of a fleet at work has every acknowledged record, and its sessions continue after a restore", {
  skip: noPostgres,
  timeout: 120_000,
}, async () => {
  await using tmp = await tmpdir({ git: true })
  await using database = await tmpDatabase()
  await using other = await tmpDatabase()
  await using llm = await fakeLlm([text("Before."), text("After the restore.")])
  const set = { ...env(llm, "chat").variables, VITAMIN_FLEET: "team-a" }
  const file = join(tmp.path, "backup.dump")
  let id = ""
  const acknowledged: string[] = []
  {
    await using one = await start(tmp, { ...set, VITAMIN_DATABASE: database.url })
    await using two = await start(tmp, { ...set, VITAMIN_DATABASE: database.url })
    id = (await one.client.createSession({ title: "kept" })).id
    await one.client.promptSession({ id, text: "before" })
    let isDumping = true
    let dumped: Promise<unknown> | undefined
    // Both servers write while the backup is made.
    const write = async ({ client }: typeof one, name: string) => {
      for (let n = 0; isDumping; n++) {
        await client.createSession({ title: `${name}${n}` })
        if (!dumped) acknowledged.push(`${name}${n}`)
        if (n === 3)
          dumped ??= run(join(bin!, "pg_dump"), ["-Fc", "-f", file, database.url]).finally(() => {
            isDumping = false
          })
      }
    }
    await Promise.all([write(one, "a"), write(two, "b")])
    await dumped
  }
  await run(join(bin!, "pg_restore"), ["--no-owner", "-d", other.url, file])
  const restored = { ...set, VITAMIN_DATABASE: other.url }
  await using server = await start(tmp, restored)
  const titles = (await server.client.listSessions({})).map(({ title }) => title)
  for (const title of ["kept", ...acknowledged]) assert.ok(titles.includes(title), `${title}: ${titles}`)
  await server.client.promptSession({ id, text: "go on" })
  assert.match(JSON.stringify(await server.client.listMessages({ id })), /Before\..*After the restore\./)
  const doctor = await vitamin(tmp, ["doctor"], restored)
  assert.match(
    doctor.out,
    /^ok +database .*fleet team-a: \d+ records.*\nok +objects .*\nok +records +\d+ records can be read/m,
  )
})
