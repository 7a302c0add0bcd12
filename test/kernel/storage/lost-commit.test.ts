// The answer to a commit is lost, and the database changes before anybody asks whether the change is stored. A change that
// may be stored is not made again.
import assert from "node:assert/strict"
import { test } from "node:test"
import * as RecordFiles from "#kernel/storage/record-files.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { useDatabase } from "#kernel/storage/use-database.ts"
import { networkTo } from "../../fixture/network-cut.ts"
import { cluster, noPostgres, tmpDatabase } from "../../fixture/postgres.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"

const real = { skip: noPostgres, timeout: 60_000 }
const other = (body: string) => `update vitamin.record set body = '${body}' where name = 'one'`
const otherBody = `create function other() returns trigger language plpgsql as $$
  begin new.body := '{"n":50}'; return new; end $$;
  create trigger other before update on vitamin.record for each row execute function other()`

for (const { title, before = "", meanwhile, body } of [
  { title: "somebody else has changed the record since", meanwhile: other('{"n":50}'), body: '{"n":50}' },
  {
    title: "somebody else has stored the same text since",
    meanwhile: other('{"n":2}'),
    body: '{"n":2}',
  },
  {
    title: "its transaction has stored something else",
    before: otherBody,
    meanwhile: "select",
    body: '{"n":50}',
  },
  {
    title: "a newer program has changed the tables since",
    meanwhile: "update vitamin.version set oldest = 99",
    body: '{"n":2}',
  },
])
  test(`a change whose commit was not answered is uncertain if ${title}`, real, async () => {
    await using _ = await tmpdir()
    await using database = await tmpDatabase()
    const { port } = await cluster()
    let isAwaited = false
    let held: readonly unknown[] = []
    await using network = await networkTo(port, (answer) => {
      if (isAwaited && answer.includes("COMMIT\0")) held = network.hold()
      return true
    })
    await useDatabase(database.url.replace(`:${port}/`, `:${network.port}/`))
    try {
      const add = () =>
        Storage.update<{ n: number }>(["counter", "one"], (draft) => draft.n++, { initial: { n: 0 } })
      await add()
      if (before) await database.query(before)
      isAwaited = true
      const second = add()
      second.catch(() => {})
      await until(() => held.length > 0, "the commit")
      isAwaited = false
      await database.query(meanwhile)
      network.reset()
      await assert.rejects(second, { name: "Database.Uncertain", message: /^Record counter\/one: / })
      assert.deepEqual(await database.query("select body from vitamin.record"), [{ body }])
    } finally {
      await Storage.close()
      Storage.use(RecordFiles)
    }
  })
