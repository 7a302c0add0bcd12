// `vitamin models --refresh` as a process against a list on loopback.
import assert from "node:assert/strict"
import { once } from "node:events"
import { mkdirSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { test } from "node:test"
import { vitamin } from "../../../fixture/cli.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"

const newest = {
  id: "claude-next",
  name: "Claude Next",
  reasoning: true,
  tool_call: true,
  temperature: true,
  modalities: { input: ["text", "image"], output: ["text"] },
  limit: { context: 2_000_000, output: 64_000 },
  cost: { input: 1, output: 2, cache_read: 0.1 },
}

async function serve(answer: string, status = 200) {
  const server = createServer((_, response) => void response.writeHead(status).end(answer))
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api.json`
  return { url, [Symbol.asyncDispose]: async () => void server.close() }
}

test("vitamin models --refresh stores newer facts, and leaves other providers unchanged", async () => {
  await using tmp = await tmpdir()
  const odd = { limit: "none" }
  const catalog = {
    anthropic: { models: { "claude-next": newest, odd } },
    unheard: { models: { x: newest } },
  }
  await using server = await serve(JSON.stringify(catalog))
  const models = async (...args: string[]) => {
    const { code, out, err } = await vitamin(tmp, ["models", "--format", "json", ...args])
    assert.equal(code, 0, err)
    return JSON.parse(out) as { provider: string; id: string }[]
  }
  const before = await models()
  await models("--refresh", "--from", server.url)
  const now = await models()
  const { id, name } = newest
  assert.deepEqual(
    now.filter(({ provider }) => provider === "anthropic"),
    [
      {
        provider: "anthropic",
        id,
        name,
        context: 2_000_000,
        output: 64_000,
        cost: { input: 1, output: 2, cacheRead: 0.1 },
        tools: true,
        reasoning: true,
        temperature: true,
        input: ["text", "image"],
      },
    ],
  )
  const others = (list: typeof now) => list.filter(({ provider }) => provider !== "anthropic").length
  assert.equal(others(now), others(before))
})

const useless: [what: string, answer: string, status?: number][] = [
  ["an error", "{}", 500],
  ["no JSON", "<html>"],
  ["no model", '{ "anthropic": { "models": {} } }'],
  ["no known provider", JSON.stringify({ unheard: { models: { x: newest } } })],
]
for (const [what, answer, status] of useless)
  test(`vitamin models --refresh changes nothing when it gets ${what}`, async () => {
    await using tmp = await tmpdir()
    await using server = await serve(answer, status)
    const { code, err } = await vitamin(tmp, ["models", "--refresh", "--from", server.url])
    assert.equal(code, 1)
    assert.match(err, /could not be used: .+ The earlier list is still used\./)
    assert.equal((await vitamin(tmp, ["models", "anthropic"])).code, 0)
  })

test("a broken stored list is reported, and the built-in one is used", async () => {
  await using tmp = await tmpdir()
  const folder = join(tmp.env.XDG_CACHE_HOME!, "vitamin")
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, "models.json"), "{ broken")
  const { code, out, err } = await vitamin(tmp, ["models", "anthropic"])
  assert.equal(code, 0)
  assert.match(out, /anthropic\/claude/)
  assert.match(err, /list of models cannot be read/)
})

test("vitamin models PROVIDER refuses an unknown provider, and suggests the nearest one", async () => {
  await using tmp = await tmpdir()
  const known = await vitamin(tmp, ["models", "anthropic"])
  assert.deepEqual([known.code, /^anthropic\//.test(known.out)], [0, true])
  const { code, err } = await vitamin(tmp, ["models", "antropic"])
  assert.equal(code, 1)
  assert.match(err, /"antropic".*Did you mean "anthropic"\?/)
  assert.doesNotMatch((await vitamin(tmp, ["models", "fake"])).err, /Did you mean add/)
})
