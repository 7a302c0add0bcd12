import assert from "node:assert/strict"
import { once } from "node:events"
import http, { createServer } from "node:http"
import https from "node:https"
import { type AddressInfo, connect, type Socket } from "node:net"
import { test } from "node:test"
import * as Provider from "#ability/provider/provider.ts"
import { providers } from "#ability/provider/reach/providers.ts"
import * as Config from "#kernel/config/config.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { fakeLlm, text } from "../../fixture/fake-llm.ts"
import { hello, inInstance, partsOf, textOf } from "./harness.ts"

type Connecting = { createConnection: () => Socket }

const anthropicKey = { ANTHROPIC_API_KEY: "sk-ant-test-0123456789" }

test("Provider.models() lists every model with its context, price and features", () => {
  const models = Provider.models()
  assert.ok(models.length > 1_000)
  const sonnet = models.find(
    ({ provider, id }) => provider === "anthropic" && id === "claude-sonnet-4-20250514",
  )
  assert.deepEqual(sonnet, {
    provider: "anthropic",
    id: "claude-sonnet-4-20250514",
    name: "Claude Sonnet 4",
    context: 200_000,
    output: 64_000,
    cost: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
    tools: true,
    reasoning: true,
    temperature: true,
    input: ["text", "image", "pdf"],
  })
  assert.deepEqual(
    models.filter(({ context, input }) => !(context >= 0) || input.length === 0),
    [],
  )
  assert.deepEqual(Provider.facts("anthropic", "claude-sonnet-4-20250514"), sonnet)
  assert.equal(Provider.facts("anthropic", "claude"), undefined)
  assert.equal(Provider.facts("constructor", "x"), undefined)
})

test("Provider.list() has at least 25 providers, among them those of all models", () => {
  const list = Provider.list()
  assert.ok(list.length >= 25)
  const ids = new Set(list.map(({ id }) => id))
  assert.deepEqual(
    Provider.models().filter(({ provider }) => !ids.has(provider)),
    [],
  )
  // A provider without models in the catalog has an address to ask.
  const listed = new Set(Provider.models().map(({ provider }) => provider))
  assert.deepEqual(
    list.filter(({ id, baseURL }) => !listed.has(id) && !baseURL),
    [],
  )
})

test("Provider.getModel() makes an AI SDK model of the package that the provider needs", async () => {
  const variables = {
    ...anthropicKey,
    OPENAI_API_KEY: "sk-test-0123456789",
    GEMINI_API_KEY: "AIza-test-012345",
  }
  await inInstance({ variables }, async () => {
    const model = await Provider.getModel("anthropic", "claude-sonnet-4-20250514")
    assert.equal(model.specificationVersion, "v4")
    assert.equal(model.provider, "anthropic.messages")
    assert.equal(model.modelId, "claude-sonnet-4-20250514")
    assert.equal((await Provider.getModel("openai", "gpt-5")).provider, "openai.responses")
    assert.match((await Provider.getModel("google", "gemini-2.5-pro")).provider, /^google/)
    assert.equal(await Provider.getModel("anthropic", "claude-sonnet-4-20250514"), model)
  })
})

test("every provider of the table sends its key to its own address", async (t) => {
  const sent: { url: string; headers: string }[] = []
  t.mock.method(globalThis, "fetch", async (url: string, init: { headers: Record<string, string> }) => {
    sent.push({ url: String(url), headers: JSON.stringify(init.headers) })
    return new Response("{}", { status: 418 })
  })
  const server = createServer(({ headers, url }, response) => {
    sent.push({ url: `//${headers.host}${url}`, headers: JSON.stringify(headers) })
    response.writeHead(418, { connection: "close" }).end("{}")
  }).listen(0, "127.0.0.1")
  t.after(() => server.close())
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  for (const { globalAgent } of [http, https])
    t.mock.method(globalAgent as unknown as Connecting, "createConnection", () => connect(port, "127.0.0.1"))
  // Google takes no key; cloud/vertex-azure.test.ts shows its account.
  const usable = Object.entries(providers).filter(
    ([, { baseURL, account }]) => baseURL !== undefined && account !== "google",
  )
  assert.ok(usable.length >= 25)
  const parts = usable.flatMap(([, { baseURL }]) => baseURL!.match(/(?<=\{)\w+(?=[|}])/g) ?? [])
  const variables = Object.fromEntries([
    ...parts.map((name) => [name, "acme"]),
    ...usable.flatMap(([, { env }]) => env.slice(0, 1).map((name) => [name, `key-of-${name}`])),
  ])
  const provider = Object.fromEntries(usable.map(([id]) => [id, { models: { "not-listed": {} } }]))
  await inInstance({ variables, config: { provider } }, async () => {
    for (const [id, { baseURL, env }] of usable) {
      const modelId = Provider.models().find(({ provider }) => provider === id)?.id ?? "not-listed"
      const model = await Provider.getModel(id, modelId)
      await assert.rejects(partsOf(model), { statusCode: 418 })
      const { url, headers } = sent.at(-1)!
      const address = baseURL!.replaceAll(/\{[\w|]+\}/g, "acme")
      assert.ok(
        url.replace(/^https?:/, "").startsWith(`${address.replace(/^https?:/, "")}/`),
        `${id}: ${url}`,
      )
      assert.ok(headers.includes(env[0] ? `key-of-${env[0]}` : ""), id)
    }
  })
  const azure = sent.find(({ url }) => url.includes("azure"))
  assert.match(azure?.headers ?? "", /"api-key":"key-of-AZURE_API_KEY"/)
})

test("openai uses responses at its own address and chat completions at any other", async () => {
  await using llm = await fakeLlm([text("a"), text("b")])
  const config = { provider: { openai: { baseURL: `${llm.url}/v1/`, apiKey: "sk-test-0123456789" } } }
  await inInstance({ config }, async () => {
    await partsOf(await Provider.getModel("openai", "gpt-5"))
    assert.equal(llm.requests[0]?.path, "/v1/chat/completions")
    assert.equal(llm.requests[0]?.headers.authorization, "Bearer sk-test-0123456789")
  })
  const variables = { OPENAI_BASE_URL: "https://api.openai.com/v1/", OPENAI_API_KEY: "sk-test-0123456789" }
  await inInstance({ variables }, async () => {
    assert.equal((await Provider.getModel("openai", "gpt-5")).provider, "openai.responses")
  })
})

test("Provider.getModel() throws a specific error for each problem", async () => {
  await inInstance({}, async () => {
    await assert.rejects(Provider.getModel("antropic", "x"), {
      name: "Provider.UnknownProvider",
      message: /"antropic" does not exist\. Did you mean "anthropic"/,
    })
    await assert.rejects(Provider.getModel("anthropic", "claude-sonet-4-5"), {
      name: "Provider.UnknownModel",
      message: /has no model "claude-sonet-4-5"\. Did you mean "claude-sonnet-4-5"/,
    })
    await assert.rejects(Provider.getModel("anthropic", "claude-sonnet-4-5"), {
      name: "Provider.MissingKey",
      message: /Set ANTHROPIC_API_KEY, or run: vitamin auth login anthropic/,
    })
    await assert.rejects(Provider.getModel("constructor", "x"), { name: "Provider.UnknownProvider" })
    await assert.rejects(Provider.getModel("amazon-bedrock", "x"), { name: "Provider.Unusable" })
    await assert.rejects(Provider.getModel("azure", "gpt-5"), {
      name: "Provider.Unusable",
      message: /AZURE_RESOURCE_NAME is not set/,
    })
  })
  for (const OPENAI_BASE_URL of ["file:///etc", "nowhere", "http://name:secret-word@localhost/v1"])
    await inInstance({ variables: { OPENAI_BASE_URL } }, async () => {
      await assert.rejects(Provider.getModel("openai", "x"), (error: Error) => {
        assert.equal(error.name, "Provider.Unusable")
        assert.doesNotMatch(error.message, /secret-word/)
        return true
      })
    })
})

test("a server on this machine needs no key and takes any model; any other address needs one", async () => {
  await using llm = await fakeLlm([text("ollama"), text("mine")])
  const config = { provider: { acme: { baseURL: llm.url } } }
  await inInstance({ variables: { OLLAMA_BASE_URL: `${llm.url}/v1` }, config }, async () => {
    assert.equal(textOf(await partsOf(await Provider.getModel("ollama", "qwen3:8b"))), "ollama")
    assert.equal(textOf(await partsOf(await Provider.getModel("acme", "m1"))), "mine")
    assert.equal(llm.requests[0]?.headers.authorization, undefined)
    const facts = Provider.facts("acme", "m1")
    assert.deepEqual([facts?.context, facts?.tools, facts?.input], [128_000, true, ["text"]])
  })
  await inInstance({ config: { provider: { acme: { baseURL: "https://llm.acme.test/v1" } } } }, async () => {
    await assert.rejects(Provider.getModel("acme", "m1"), { name: "Provider.MissingKey" })
  })
  const headers = { Authorization: "Bearer from-a-header" }
  const proxied = { provider: { acme: { baseURL: "https://llm.acme.test/v1", headers } } }
  await inInstance({ config: proxied }, async () => {
    assert.equal((await Provider.getModel("acme", "m1")).modelId, "m1")
  })
})

test("a model that the configuration declares has its facts, and its wire form", async () => {
  await using llm = await fakeLlm([text("a"), text("b")])
  const models = {
    "claude-next": { name: "Next", context: 5_000, cost: { input: 1, output: 2 }, input: ["text", "image"] },
    other: { api: "messages" },
  }
  const config = {
    provider: { acme: { baseURL: llm.url, models }, anthropic: { models, apiKey: "sk-ant-01234567" } },
  }
  await inInstance({ config }, async () => {
    await Provider.getModel("anthropic", "claude-next")
    assert.deepEqual(Provider.facts("anthropic", "claude-next"), {
      provider: "anthropic",
      id: "claude-next",
      name: "Next",
      context: 5_000,
      output: 0,
      cost: { input: 1, output: 2 },
      tools: true,
      reasoning: false,
      temperature: true,
      input: ["text", "image"],
    })
    await partsOf(await Provider.getModel("acme", "other"))
    assert.equal(llm.requests[0]?.path, "/v1/messages")
  })
  const wrong = { provider: { acme: { baseURL: llm.url, models: { wrong: { context: "many" } } } } }
  await assert.rejects(
    inInstance({ config: wrong }, () => Provider.getModel("acme", "wrong")),
    { name: "Config.Invalid", message: /provider\.acme\.models\.wrong\.context: expected number/ },
  )
})

test("Provider.load() adds the declared models to the list", async () => {
  const models = { mine: { context: 9_000 }, "gpt-5": { context: 1_000 } }
  await inInstance({ config: { provider: { openai: { models } } } }, async () => {
    await Provider.load()
    assert.equal(Provider.models().length, 1813)
    assert.equal(Provider.facts("openai", "mine")?.context, 9_000)
    assert.equal(Provider.facts("openai", "gpt-5")?.context, 1_000)
    assert.equal(Provider.facts("openai", "gpt-5")?.tools, true)
  })
})

test("a model is created again after the configuration changed", async () => {
  await using first = await fakeLlm([text("first")])
  await using second = await fakeLlm([text("second")])
  const config = (baseURL: string) => JSON.stringify({ provider: { openai: { baseURL } } })
  await inInstance({ variables: { VITAMIN_CONFIG: config(first.url) } }, async () => {
    const before = await Provider.getModel("openai", "m")
    assert.equal(textOf(await partsOf(before, hello)), "first")
    process.env.VITAMIN_CONFIG = config(second.url)
    await Config.reload()
    const after = await Provider.getModel("openai", "m")
    assert.notEqual(after, before)
    assert.equal(textOf(await partsOf(after)), "second")
    assert.equal(await Provider.getModel("openai", "m"), after)
  })
})

test("a key in use is redacted", async () => {
  const variables = { ANTHROPIC_API_KEY: "sk-ant-held-7c0ffee7" }
  await inInstance({ variables }, async () => {
    await Provider.getModel("anthropic", "claude-sonnet-4-5")
    assert.equal(Secret.redact("key sk-ant-held-7c0ffee7!"), "key [anthropic key]!")
  })
})
