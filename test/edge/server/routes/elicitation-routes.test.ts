// Elicitations over HTTP: pending ones, replies, and how they end without a reply.
import assert from "node:assert/strict"
import { test } from "node:test"
import type * as Elicitation from "#ability/elicitation/elicitation.ts"
import { mcpJson, officialServer } from "../../../ability/mcp/servers.ts"
import { apiOf } from "../../../fixture/api-of.ts"
import { serving, vitamin } from "../../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"
import { until } from "../../../fixture/until.ts"

const form = call("everything_trigger-elicitation-request", {})
const visit = call("everything_trigger-url-elicitation", {
  url: "https://exämple.test/go?x=1",
  message: "Look\u001b[2J here",
})

async function setUp(script: Parameters<typeof fakeLlm>[0]) {
  const tmp = await tmpdir({ git: true })
  tmp.write(".mcp.json", mcpJson({ everything: officialServer("everything") }))
  await vitamin(tmp, ["trust", "--yes"])
  assert.equal((await vitamin(tmp, ["mcp", "test", "everything"])).code, 0)
  const llm = await fakeLlm(script)
  const served = await serving(tmp, [], env(llm, "chat").variables)
  const { child } = served
  const api = apiOf(served)
  const session = (await api("POST", "/session", {})).body
  return {
    tmp,
    llm,
    api,
    session,
    ask: (more: object = {}) => api("POST", `/session/${session.id}/message`, { text: "go", ...more }),
    async allow(): Promise<void> {
      await until(async () => {
        const [one] = (await api("GET", "/permission/pending")).body
        if (one) await api("POST", `/permission/${one.id}/respond`, { reply: "once" })
        return one !== undefined
      }, "permission is asked for")
    },
    async pending(): Promise<Elicitation.Request> {
      let found: Elicitation.Request[] = []
      await until(async () => {
        found = (await api("GET", "/elicitation/pending")).body
        return found.length > 0
      }, "a server asks")
      return found[0]!
    },
    sent: (at: number) => JSON.stringify(llm.requests[at]!.body),
    async [Symbol.asyncDispose]() {
      await child[Symbol.asyncDispose]()
      await llm[Symbol.asyncDispose]()
      await tmp[Symbol.asyncDispose]()
    },
  }
}

test("a form is listed at GET /elicitation/pending, and its checked reply reaches the server", async () => {
  await using world = await setUp([form, text("Thanks.")])
  const { api, session } = world
  const answered = world.ask()
  await world.allow()
  const one = await world.pending()
  assert.deepEqual([one.server, one.sessionId, one.mode], ["everything", session.id, "form"])
  assert.match(one.message, /provide inputs/)
  assert.equal((await api("GET", `/session/${session.id}`)).body.status, "waiting")
  const field = (name: string) => one.fields!.find((found) => found.name === name)
  assert.deepEqual([field("name")?.kind, field("name")?.required], ["text", true])
  assert.deepEqual([field("integer")?.min, field("integer")?.max, field("integer")?.default], [1, 100, 42])
  assert.deepEqual(field("titledSingleSelectEnum")?.options?.[0], { value: "hero-1", title: "Superman" })
  const respond = (body: object, id = one.id) => api("POST", `/elicitation/${id}/respond`, body)
  const wrong = [
    {},
    { name: 7 },
    { name: "Ada", integer: 101 },
    { name: "Ada", nothing: "x" },
    { name: "Ada", email: "no" },
  ]
  for (const content of wrong) {
    const refused = await respond({ action: "accept", content })
    assert.equal(refused.status, 400, JSON.stringify(content))
  }
  assert.equal((await respond({ action: "maybe" })).status, 400)
  assert.equal((await respond({ action: "decline" }, "elic_none")).status, 404)
  const content = { name: "Ada", integer: 7, untitledMultipleSelectEnum: ["Piano", "Bass"] }
  assert.equal((await respond({ action: "accept", content })).status, 200)
  assert.equal((await answered).status, 200)
  assert.match(world.sent(1), /- Name: Ada.*Favorite Integer: 7/s)
  assert.match(world.sent(1), /Piano.*Bass/s)
  assert.equal((await respond({ action: "decline" })).status, 404, "it was answered already")
  assert.deepEqual((await api("GET", "/elicitation/pending")).body, [])
})

test("an elicitation shows the normalised URL and a message without hidden characters", async () => {
  await using world = await setUp([visit, text("Done.")])
  const answered = world.ask()
  await world.allow()
  const one = await world.pending()
  assert.deepEqual([one.mode, one.url, one.fields], ["url", "https://xn--exmple-cua.test/go?x=1", undefined])
  assert.equal(one.message, "Look\\u{1b}[2J here")
  await world.api("POST", `/elicitation/${one.id}/respond`, { action: "decline" })
  assert.equal((await answered).status, 200)
  assert.match(world.sent(1), /declin/i)
})

test("an elicitation ends with its call, and is declined at once if nobody can be asked", async () => {
  await using world = await setUp([form, form, text("No.")])
  const answered = world.ask()
  await world.allow()
  await world.pending()
  await world.api("POST", `/session/${world.session.id}/abort`)
  await answered
  await until(
    async () => !(await world.api("GET", "/elicitation/pending")).body.length,
    "the question is gone",
  )
  assert.equal((await world.ask({ asks: "once" })).status, 200)
  assert.match(world.sent(2), /declined to provide/)
})
