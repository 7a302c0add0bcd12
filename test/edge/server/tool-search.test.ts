// Tools by what they do, over HTTP.
import assert from "node:assert/strict"
import { test } from "node:test"
import { abilityRoutes } from "#edge/server/ability-routes.ts"
import { createApp } from "#edge/server/app.ts"
import { createEventStream } from "#edge/server/event-stream.ts"
import { createEventLog } from "#kernel/event-log.ts"
import { Instance } from "#kernel/instance.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { auth, base, token } from "./app-harness.ts"

test("GET /tool?search= gives the tools that fit, the best first, with their scores", async () => {
  await using tmp = await tmpdir()
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
    routes: abilityRoutes(),
  })
  const ask = async (path: string) => {
    const response = await app.request(base + path, { headers: auth })
    return { status: response.status, tools: (await response.json()) as { id: string; score?: number }[] }
  }
  try {
    const { tools } = await ask("/tool?search=run%20a%20command%20in%20bash")
    assert.equal(tools[0]!.id, "bash")
    const scores = tools.map(({ score }) => score!)
    assert.ok(scores.every((score, i) => score > 0 && score <= (scores[i - 1] ?? score)))
    const all = await ask("/tool")
    assert.ok(all.tools.length > tools.length)
    assert.ok(all.tools.every(({ score }) => score === undefined))
    assert.equal((await ask(`/tool?search=${"x".repeat(3_000)}`)).status, 400)
  } finally {
    await Instance.disposeAll()
    await Storage.close()
    eventStream.close()
    log.close()
  }
})
