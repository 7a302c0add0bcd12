// The agents of a project over HTTP.
import assert from "node:assert/strict"
import { test } from "node:test"
import { builtinAgents } from "#ability/agent/builtin-agents.ts"
import { agentRoutes } from "#edge/server/routes/agent-routes.ts"
import { auth, base, errorOf } from "../app-harness.ts"
import { appWith } from "../app-with.ts"

test("GET /agent and /agent/:id return the agents of the request's directory with their usable tools", async () => {
  await using world = await appWith(agentRoutes())
  const { tmp, app } = world
  tmp.write(".vitamin/agents/reader.md", "---\ntools: [read, nowhere]\n---\nYou read.\n")
  const get = (path: string) => app.request(base + path, { headers: auth })
  const all = (await (await get("/agent")).json()) as { id: string; usableTools: string[] }[]
  assert.deepEqual(
    all.map(({ id }) => id),
    [...builtinAgents.map(({ id }) => id), "reader"].sort(),
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
})
