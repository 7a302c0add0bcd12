// session/list: the sessions, in pages.
import assert from "node:assert/strict"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import * as Session from "#engine/session/session.ts"
import { Instance } from "#kernel/instance.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { type Tmp, tmpdir } from "../../../fixture/tmpdir.ts"
import { type Acp, connected, on } from "../harness.ts"

test("session/list gives a folder's sessions or all, page by page, the last used first", async () => {
  await using tmp = await tmpdir()
  const ids = await manySessions(tmp, 120)
  const other = join(tmp.path, "other")
  mkdirSync(other)
  await using acp = await connected(tmp)
  const { sessionId } = await acp.agent.request(on.session.new, { cwd: other, mcpServers: [] })
  const all = await pages(acp, {})
  assert.deepEqual(
    all.map((page) => page.length),
    [50, 50, 21],
  )
  assert.deepEqual(
    all.flat().map((one) => one.sessionId),
    [sessionId, ...ids.toReversed()],
  )
  const own = (await pages(acp, { cwd: tmp.path })).flat()
  assert.deepEqual(
    own.map((one) => one.sessionId),
    ids.toReversed(),
  )
  assert.deepEqual([own[0]?.cwd, own[0]?.title], [tmp.path, "number 119"])
  assert.match(own[0]?.updatedAt ?? "", /^\d{4}-\d\d-\d\dT.*Z$/)
  assert.deepEqual(await pages(acp, { cwd: join(tmp.path, "gone") }), [[]])
})

test("titles in session/list are one line with control characters escaped", async () => {
  await using tmp = await tmpdir()
  await manySessions(tmp, 1, "red \u001b[31m\u202e\nand more")
  await using acp = await connected(tmp)
  const [[session] = []] = await pages(acp, {})
  assert.equal(session?.title, "red \\u001b[31m\\u202e…")
})

async function pages(acp: Acp, wish: { cwd?: string }) {
  const found: Awaited<ReturnType<typeof page>>["sessions"][] = []
  const page = (cursor?: string) =>
    acp.agent.request(on.session.list, { ...wish, ...(cursor ? { cursor } : {}) })
  let next: string | null | undefined
  do {
    const { sessions, nextCursor } = await page(next ?? undefined)
    found.push(sessions)
    next = nextCursor
  } while (next)
  return found
}

/** Ids in the order in which the sessions were used. */
async function manySessions(tmp: Tmp, count: number, title?: string): Promise<string[]> {
  const ids: string[] = []
  try {
    await Instance.provide({
      directory: tmp.path,
      fn: async () => {
        for (let i = 0; i < count; i++) {
          const { id, projectId } = await Session.create({ title: title ?? `number ${i}` })
          // Some share the same time.
          const updated = 1_000_000 + Math.floor(i / 3)
          await Storage.update(["session", projectId, id], (draft) => {
            ;(draft as Session.Info).time.updated = updated
          })
          ids.push(id)
        }
      },
    })
  } finally {
    await Instance.disposeAll()
    await Storage.close()
  }
  return ids
}
