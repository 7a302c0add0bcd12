// Searching tools over HTTP.
import assert from "node:assert/strict"
import { test } from "node:test"
import { abilityRoutes } from "#edge/server/routes/ability-routes.ts"
import { auth, base } from "./app-harness.ts"
import { appWith } from "./app-with.ts"

test("GET /tool?search= returns matching tools with scores, the best first", async () => {
  await using world = await appWith(abilityRoutes())
  const { app } = world
  const ask = async (path: string) => {
    const response = await app.request(base + path, { headers: auth })
    return { status: response.status, tools: (await response.json()) as { id: string; score?: number }[] }
  }
  const { tools } = await ask("/tool?search=run%20a%20command%20in%20bash")
  assert.equal(tools[0]!.id, "bash")
  const scores = tools.map(({ score }) => score!)
  assert.ok(scores.every((score, i) => score > 0 && score <= (scores[i - 1] ?? score)))
  const all = await ask("/tool")
  assert.ok(all.tools.length > tools.length)
  assert.ok(all.tools.every(({ score }) => score === undefined))
  assert.equal((await ask(`/tool?search=${"x".repeat(3_000)}`)).status, 400)
})
