// A base URL that answers with redirects: no wire form takes a key or a request to another origin.
import assert from "node:assert/strict"
import { test } from "node:test"
import { loadEmbeddingModel } from "#ability/provider/load-embedding-model.ts"
import { vitamin } from "../../../fixture/cli.ts"
import { env, fakeLlm, text, type Wire, wires } from "../../../fixture/fake-llm.ts"
import { originOf, redirecting, statuses } from "../../../fixture/redirecting.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"
import { inInstance, partsOf, textOf, withModel } from "../harness.ts"

const providers: Record<Wire, string> = {
  chat: "openai",
  responses: "openai",
  messages: "anthropic",
  gemini: "google",
}
const asLlm = (url: string) => ({ url }) as Parameters<typeof withModel>[0]

for (const wire of wires) {
  test(`${wire}: a redirect to another origin is an error that names both, and nothing is sent there`, async () => {
    await using other = await originOf()
    for (const status of statuses) {
      await using server = await redirecting(status, (path) => other.url + path)
      await assert.rejects(
        withModel(asLlm(server.url), wire, (model) => partsOf(model)),
        {
          name: "RedirectRefused",
          message: new RegExp(
            `^${server.url} redirects \\(${status}\\) to another origin, ${other.url}\\. .*set provider\\.${providers[wire]}\\.baseURL to its address\\.$`,
          ),
        },
      )
      assert.equal(server.heard.length, 1)
    }
    assert.deepEqual(other.heard, [])
  })

  test(`${wire}: redirects within the origin are followed with the key and the body, until one leaves it`, async () => {
    await using other = await originOf()
    await using llm = await fakeLlm([text("arrived")])
    const steps = new Map<string, string>()
    await using server = await originOf((request, response) => {
      const next = steps.get(request.url!.split("?")[0]!) ?? `${other.url}/end`
      response.writeHead(308, { location: next }).end()
    })
    await assert.rejects(
      withModel(asLlm(server.url), wire, (model) => partsOf(model)),
      { name: "RedirectRefused" },
    )
    const { path } = server.heard[0]!
    steps.set(path.split("?")[0]!, "/second")
    steps.set("/second", "third")
    await assert.rejects(
      withModel(asLlm(server.url), wire, (model) => partsOf(model)),
      { name: "RedirectRefused" },
    )
    const [, first, second, third] = server.heard
    assert.deepEqual([second!.path, third!.path], ["/second", "/third"])
    for (const hop of [second!, third!]) {
      assert.equal(hop.body, first!.body)
      assert.equal(hop.method, "POST")
      assert.match(JSON.stringify(hop.headers), /fake-llm-key-0123456789/)
    }
    assert.deepEqual(other.heard, [])
    // What is not redirected still works.
    const parts = await withModel(llm, wire, (model) => partsOf(model))
    assert.equal(textOf(parts), "arrived")
  })

  test(`${wire}: vitamin run says what happened, once`, async () => {
    await using tmp = await tmpdir()
    await using other = await originOf()
    await using server = await redirecting(307, (path) => other.url + path)
    const { variables, model } = env(server, wire)
    const { code, err } = await vitamin(tmp, ["run", "--model", model, "hello"], variables)
    assert.equal(code, 1)
    assert.ok(err.includes(`${server.url} redirects (307) to another origin, ${other.url}.`), err)
    assert.equal(server.heard.length, 1, "it is not tried again")
    assert.deepEqual(other.heard, [])
  })
}

test("embeddings: neither the key nor the texts are sent to another origin after a redirect", async () => {
  await using other = await originOf()
  for (const id of ["openai", "google"])
    for (const status of statuses) {
      await using server = await redirecting(status, (path) => other.url + path)
      const config = { provider: { [id]: { baseURL: server.url, apiKey: "embedding-key-0123456789" } } }
      await inInstance({ config }, async () => {
        const embed = await loadEmbeddingModel(`${id}/text-embedding`)
        await assert.rejects(embed(["a text"]), { name: "RedirectRefused" })
      })
      assert.match(JSON.stringify(server.heard), /embedding-key/)
    }
  assert.deepEqual(other.heard, [])
})
