// `vitamin session list` with more sessions than it shows.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { test } from "node:test"
import { createClient, createHttpTransport } from "#client/client.ts"
import { serving, vitamin } from "../../../fixture/cli.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"

test("vitamin session list shows the last used sessions, and --limit and --all more of them", async () => {
  await using tmp = await tmpdir({ git: true })
  const { child, url, tokenFile } = await serving(tmp)
  await using _ = child
  const token = readFileSync(tokenFile, "utf8").trim()
  const client = createClient(createHttpTransport({ url, token, directory: tmp.path }))
  for (let i = 0; i < 52; i++) await client.createSession({ title: `number ${i}.` })
  child.process.kill("SIGTERM")
  await child.exit

  const list = (...args: string[]) => vitamin(tmp, ["session", "list", ...args])
  const titles = (text: string) => [...text.matchAll(/number (\d+)\./g)].map(([, number]) => Number(number))
  const upTo = (last: number) => Array.from({ length: 52 - last }, (_, i) => 51 - i)
  const usual = await list()
  assert.deepEqual(titles(usual.out), upTo(2))
  assert.match(usual.err, /There are older ones: --all shows them/)
  assert.deepEqual(titles((await list("--limit", "2")).out), [51, 50])
  const all = await list("--all")
  assert.deepEqual([titles(all.out), all.err], [upTo(0), ""])
  assert.equal(JSON.parse((await list("--format", "json")).out).length, 52)
  for (const wrong of ["0", "-1", "1.5", "x"]) assert.equal((await list("--limit", wrong)).code, 2)
})
