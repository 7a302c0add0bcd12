// The agents of a project over HTTP.
import assert from "node:assert/strict"
import { test } from "node:test"
import { agentRoutes } from "#edge/server/agent-routes.ts"
import { createApp } from "#edge/server/app.ts"
import { createEventStream } from "#edge/server/event-stream.ts"
import { createEventLog } from "#kernel/event-log.ts"
import { Instance } from "#kernel/instance.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { auth, base, errorOf, token } from "./app-harness.ts"

test("GET /agent and /agent/:id give the agents of the request's directory, with the tools they may use", async () => {
  await using tmp = await tmpdir()
  tmp.write(".vitamin/agents/reader.md", "---\ntools: [read, nowhere]\n---\nYou read.\n")
  const log = createEventLog({ directory: `${tmp.path}/../events` })
  const eventStream = createEventStream({ log })
  const app = createApp({
    token,
    hosts: ["127.0.0.1:3141"],
    origins: [],
    directory: tmp.path,
    config: () => ({}),
    version: "1",
    eventStream,
    routes: agentRoutes(),
  })
  const get = (path: string) => app.request(base + path, { headers: auth })
  try {
    const all = (await (await get("/agent")).json()) as { id: string; usableTools: string[] }[]
    assert.deepEqual(
      all.map(({ id }) => id),
      ["build", "plan", "reader"],
    )
    const denied = all.find(({ id }) => id === "plan")!.usableTools
    assert.ok(denied.includes("read") && !denied.includes("bash"), String(denied))
    const one = (await (await get("/agent/reader")).json()) as Record<string, unknown>
    assert.deepEqual([one.usableTools, one.systemPrompt, one.mode], [["read"], "You read.", "subagent"])
    assert.match(String(one.file), /reader\.md$/)
    tmp.write(".vitamin/agents/reader.md", "---\ntools: [read]\n---\nYou read well.\n")
    const edited = (await (await get("/agent/reader")).json()) as Record<string, unknown>
    assert.equal(edited.systemPrompt, "You read well.", "without a new start")
    const missing = await get("/agent/raeder")
    assert.equal(missing.status, 404)
    assert.equal((await errorOf(missing)).name, "Agent.NotFound")
    assert.equal((await app.request(`${base}/agent`)).status, 401)
  } finally {
    eventStream.close()
    log.close()
    await Instance.disposeAll()
    await Storage.close()
  }
})
