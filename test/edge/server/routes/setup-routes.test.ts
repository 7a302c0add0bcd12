// Signing in at a provider over HTTP, with a provider on loopback.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { setupRoutes } from "#edge/server/routes/setup-routes.ts"
import { givenKey, keyProvider } from "../../../fixture/key-provider.ts"
import { auth, base, errorOf } from "../app-harness.ts"
import { appWith } from "../app-with.ts"

async function setUp() {
  const world = await appWith(setupRoutes())
  const provider = await keyProvider()
  process.env.OPENROUTER_BASE_URL = provider.baseURL
  const ask = (method: string, id = "openrouter") =>
    world.app.request(`${base}/provider/${id}/login`, { method, headers: auth })
  return {
    provider,
    ask,
    json: async (method: string) => (await ask(method)).json() as Promise<Record<string, string>>,
    key: () =>
      JSON.parse(readFileSync(join(world.tmp.env.XDG_DATA_HOME!, "vitamin", "auth.json"), "utf8")).openrouter
        .key,
    async [Symbol.asyncDispose]() {
      delete process.env.OPENROUTER_BASE_URL
      await provider[Symbol.asyncDispose]()
      await world[Symbol.asyncDispose]()
    },
  }
}

test("a person signs in at a provider, and its key is stored and shown nowhere", async () => {
  await using world = await setUp()
  const { ask, json, key } = world
  assert.equal((await ask("GET")).status, 404)
  const { url } = await json("POST")
  const outcome = json("GET")
  await fetch(url!)
  assert.deepEqual(await outcome, { state: "done" })
  assert.equal(key(), givenKey)
})

test("a login at a provider ends when it is stopped or refused, and a provider without one is named", async () => {
  await using world = await setUp()
  const { provider, ask, json, key } = world
  await json("POST")
  assert.deepEqual(await json("DELETE"), { cancelled: true })
  assert.deepEqual(await json("DELETE"), { cancelled: false })
  assert.deepEqual(await json("GET"), { state: "failed", error: "The login was stopped." })
  provider.isRefusing = true
  const { url } = await json("POST")
  await fetch(url!)
  const error = "Signing in at openrouter failed: the provider answered 403"
  assert.deepEqual(await json("GET"), { state: "failed", error })
  assert.throws(key)
  const none = await ask("POST", "groq")
  assert.equal(none.status, 404)
  assert.match(
    (await errorOf(none)).message,
    /"groq" has no sign-in for programs; these have one: openrouter\./,
  )
})

test("the code of somebody else's login does not end a login", async () => {
  await using world = await setUp()
  const { json, key } = world
  const { url } = await json("POST")
  const back = new URL(new URL(url!).searchParams.get("callback_url")!)
  for (const path of ["/callback", "/callback/guess", "/callback?state=guess"]) {
    const answer = await fetch(
      new URL(`${path}${path.includes("?") ? "&" : "?"}code=code-of-a-stranger`, back),
    )
    assert.equal(answer.status, 404, path)
  }
  assert.throws(key)
  await fetch(url!)
  assert.deepEqual(await json("GET"), { state: "done" })
  assert.equal(key(), givenKey)
})
