// Agent and model of a session can be set, and sessions are found from any folder.
import assert from "node:assert/strict"
import { test } from "node:test"
import * as Session from "#engine/session/session.ts"
import { setAnswerer } from "#engine/session/settings.ts"
import { Instance } from "#kernel/instance.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { text } from "../../fixture/fake-llm.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"
import { inWorld } from "../session/harness.ts"

test("setAnswerer() sets model and agent from the next prompt on, also while the session is busy", async () => {
  await inWorld(
    [text("One.", { deltas: 5, delay: 10 }), text("Two.")],
    async ({ session, ask, llm, messages }) => {
      const first = ask("one")
      await until(() => llm.requests.length, "the model is asked")
      await setAnswerer(session.id, { model: "openai/other-model", agent: "plan" })
      await first
      await ask("two")
      assert.deepEqual(
        llm.requests.map(({ model }) => model),
        ["fake-model", "other-model"],
      )
      assert.equal((await messages()).at(-1)?.agent, "plan")
    },
    { config: { provider: { openai: { models: { "other-model": {} } } } } },
  )
})

test("setAnswerer() refuses unknown or unusable agents and models, and changes nothing", async () => {
  await inWorld([], async ({ session }) => {
    const wrong: [{ model?: string; agent?: string }, string][] = [
      [{ model: "nonsense" }, "Session.InvalidModel"],
      [{ model: "/x" }, "Session.InvalidModel"],
      [{ model: "nobody/x" }, "Provider.UnknownProvider"],
      [{ model: "anthropic/claude-opus-4-1" }, "Provider.MissingKey"],
      [{ model: "openai/fake-model", agent: "nobody" }, "Agent.NotFound"],
    ]
    for (const [wish, name] of wrong) await assert.rejects(setAnswerer(session.id, wish), { name })
    const { model, agent } = await Session.get(session.id)
    assert.deepEqual([model, agent], [undefined, "build"])
    await assert.rejects(setAnswerer("sess_none", { agent: "plan" }), { name: "Session.NotFound" })
  })
})

test("Session.get() and Session.list({ everywhere: true }) find the sessions of all projects without an instance", async () => {
  await using tmp = await tmpdir({ git: true })
  const other = tmp.write("../other/a.txt", "x").replace(/\/a\.txt$/, "")
  const make = (directory: string) => Instance.provide({ directory, fn: () => Session.create() })
  try {
    const [here, there] = [await make(tmp.path), await make(other)]
    assert.notEqual(here.projectId, there.projectId)
    assert.deepEqual((await Session.get(there.id)).directory, other)
    const all = await Session.list({ everywhere: true })
    assert.deepEqual(new Set(all.map(({ id }) => id)), new Set([here.id, there.id]))
    const near = await Instance.provide({ directory: other, fn: () => Session.list() })
    assert.deepEqual(
      near.map(({ id }) => id),
      [there.id],
    )
  } finally {
    await Instance.disposeAll()
    await Storage.close()
  }
})
