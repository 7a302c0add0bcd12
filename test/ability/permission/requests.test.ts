// Replies to permission questions that come while another reply is stored, the time limit ends, or the prompt ends.
import assert from "node:assert/strict"
import { test } from "node:test"
import { setTimeout as sleep } from "node:timers/promises"
import * as Permission from "#ability/permission/permission.ts"
import { Instance } from "#kernel/instance.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

const limit = 50
const rule = { permission: "bash.execute", pattern: "ls", action: "allow" as const }
const ruled = [{ permission: "bash.execute", target: "ls", rules: [rule] }]
const unruled = [{ permission: "bash.execute", target: "ls > out", rules: [] }]
const asked = (more: Partial<Permission.Question> = {}): Permission.Question => ({
  sessionId: "sess_1",
  messageId: "msg_1",
  callId: "call_1",
  tool: "bash",
  needs: [],
  title: "Allow it?",
  limit,
  ...more,
})

async function inInstance(fn: () => Promise<unknown>): Promise<void> {
  await using tmp = await tmpdir()
  try {
    await Instance.provide({ directory: tmp.path, fn })
  } finally {
    await Instance.disposeAll()
  }
}

test("an answer in time counts, even if storing it takes long", async () => {
  await inInstance(async () => {
    const answer = Permission.ask(asked({ keep: () => sleep(limit * 4) }))
    await Permission.reply(Permission.pending()[0]!.id, "once")
    assert.deepEqual(await answer, { reply: "once", by: "person" })
  })
})

test("an answer that cannot be stored does not count: the question stays open until its time is up", async () => {
  await inInstance(async () => {
    const keep = async () => {
      await sleep(limit * 4)
      throw new Error("the disk is full")
    }
    const answer = Permission.ask(asked({ keep }))
    await assert.rejects(Permission.reply(Permission.pending()[0]!.id, "once"), /the disk is full/)
    assert.equal((await answer).by, "time")
    const patient = Permission.ask(asked({ keep: () => Promise.reject(new Error("no")), limit: 600_000 }))
    await assert.rejects(Permission.reply(Permission.pending()[0]!.id, "once"), /no/)
    assert.equal(Permission.pending().length, 1)
    await Instance.dispose()
    assert.deepEqual(await patient, { reply: "reject", by: "end" })
  })
})

test('"always" also answers other open questions, but none that ends while it is checked', async () => {
  await inInstance(async () => {
    const end = new AbortController()
    const kept: string[] = []
    const first = Permission.ask(asked({ needs: ruled, limit: 600_000 }))
    const isAllowed = async () => {
      end.abort()
      return true
    }
    const keep = async () => void kept.push("second")
    const second = Permission.ask(asked({ signal: end.signal, isAllowed, keep, limit: 600_000 }))
    await Permission.reply(Permission.pending()[0]!.id, "always")
    assert.deepEqual([(await first).reply, (await second).by, kept], ["always", "end", []])
  })
})

for (const [what, needs] of [
  ["nothing is needed", []],
  ["no rule can be made", unruled],
  ["one of two has no rule", [...ruled, ...unruled]],
] as const)
  test(`"always" counts as "once" if ${what}, and a notice says so`, async () => {
    await inInstance(async () => {
      const kept: Permission.Answer[] = []
      const keep = async (answer: Permission.Answer) => void kept.push(answer)
      const answer = Permission.ask(asked({ needs: [...needs], keep, limit: 600_000 }))
      const [request] = Permission.pending()
      assert.equal(Permission.canBeAlways(request!), false)
      const { notice } = await Permission.reply(request!.id, "always", { scope: "session" })
      assert.match(notice!, /allowed once: no rule can allow exactly this for good/)
      assert.deepEqual([await answer, kept], [{ reply: "once", by: "person" }, [await answer]])
    })
  })

test('"always" is stored without a notice if there is a rule for every need', async () => {
  await inInstance(async () => {
    const answer = Permission.ask(asked({ needs: ruled, limit: 600_000 }))
    assert.deepEqual(await Permission.reply(Permission.pending()[0]!.id, "always"), {})
    assert.equal((await answer).reply, "always")
  })
})

test("a second answer is refused while the first is being stored", { timeout: 20_000 }, async () => {
  await inInstance(async () => {
    const kept = Promise.withResolvers<void>()
    const answer = Permission.ask(asked({ limit: 60_000, keep: () => kept.promise }))
    const { id } = Permission.pending()[0]!
    const first = Permission.reply(id, "once")
    await assert.rejects(Permission.reply(id, "reject"), { name: "Permission.NotFound" })
    kept.resolve()
    await first
    assert.deepEqual(await answer, { reply: "once", by: "person" })
  })
})
