// A session has the status "waiting" while one of its subtasks waits for a person.
import assert from "node:assert/strict"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { apiOf } from "../../fixture/api-of.ts"
import { serving } from "../../fixture/cli.ts"
import { call, env, fakeLlm, type Reply, type Request, text } from "../../fixture/fake-llm.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"

/** Each agent starts a subtask with the next one; the last one writes a file. */
function script({ messages }: Request): Reply {
  if (messages.length > 1) return text("done")
  const next = { outer: "middle", middle: "inner" }[messages[0]!.text]
  return next ? call("subtask", { task: next }) : call("write", { path: "made.txt", content: "x" })
}

test("a session is waiting while a task of its task waits for a person, and busy, then idle, after the answer", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm(script)
  const served = await serving(tmp, [], {
    ...env(llm, "chat").variables,
    VITAMIN_CONFIG: JSON.stringify({
      permission: [{ permission: "agent.delegate", pattern: "*", action: "allow" }],
    }),
  })
  await using _ = served.child
  const api = apiOf(served)
  const statuses = async () => {
    const { body } = await api("GET", "/session?tasks=true")
    const titles = ["outer", "middle", "inner"]
    return titles.map((title) => body.find((one: { title: string }) => one.title === title)?.status)
  }
  const allAre = (wanted: string) =>
    until(async () => (await statuses()).every((status) => status === wanted), `all sessions ${wanted}`)
  const { body: session } = await api("POST", "/session", {})
  const answered = api("POST", `/session/${session.id}/message`, { text: "outer" })
  await allAre("waiting")
  assert.equal((await api("GET", `/session/${session.id}`)).body.status, "waiting")
  const { body: pending } = await api("GET", "/permission/pending")
  assert.equal(pending.length, 1)
  assert.equal(existsSync(join(tmp.path, "made.txt")), false)
  const { body: tasks } = await api("GET", `/session/${session.id}/task`)
  assert.deepEqual(
    tasks.map(({ title }: { title: string }) => title),
    ["middle"],
  )
  await api("POST", `/permission/${pending[0].id}/respond`, { reply: "once" })
  assert.equal((await answered).status, 200)
  await allAre("idle")
  assert.ok(existsSync(join(tmp.path, "made.txt")))
})
