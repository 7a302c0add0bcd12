import assert from "node:assert/strict"
import { test } from "node:test"
import * as Config from "#kernel/config/config.ts"
import * as Secret from "#kernel/secret.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { writeGlobal } from "./fixture.ts"

test("Config.redacted() shows no key, token, header, environment value or function", async () => {
  await using tmp = await tmpdir()
  const inline: Config.Input = {
    model: "a/b",
    provider: { default: "a", a: { apiKey: "key-1", baseURL: "https://x", headers: { "x-key": "head-1" } } },
    mcp: {
      servers: [{ id: "s", name: "S", transport: "http", auth: { type: "bearer", token: "token-1" } }],
      hooks: { onLog: () => undefined },
    },
    environment: { SOME: "value-1" },
  }
  const config = await Config.load({ directory: tmp.path, inline })
  assert.deepEqual(Config.redacted(config), {
    model: "a/b",
    provider: {
      default: "a",
      a: { apiKey: "[redacted]", baseURL: "https://x", headers: { "x-key": "[redacted]" } },
    },
    mcp: {
      servers: [{ id: "s", name: "S", transport: "http", auth: { type: "bearer", token: "[redacted]" } }],
      hooks: { onLog: "[function]" },
    },
    environment: { SOME: "[redacted]" },
  })
  assert.equal((config.provider as Record<string, { apiKey?: string }>).a?.apiKey, "key-1")
})

test("Config.load() holds the secrets of every layer, also of one that is covered by a higher one", async () => {
  await using tmp = await tmpdir()
  const provider = (apiKey: string) => ({ a: { apiKey } })
  writeGlobal(JSON.stringify({ provider: provider("covered-key-123"), mcp: { servers: [] } }))
  await Config.load({
    directory: tmp.path,
    inline: {
      provider: { a: { apiKey: "inline-key-123", headers: { authorization: "Bearer head-123456" } } },
      mcp: {
        servers: [{ id: "s", name: "S", transport: "http", auth: { type: "bearer", token: "token-12345" } }],
      },
    },
  })
  for (const secret of ["covered-key-123", "inline-key-123", "head-123456", "token-12345"])
    assert.equal(Secret.redact(`x ${secret} y`).includes(secret), false, secret)
})

test("Config.load() does not hold ordinary header values", async () => {
  await using tmp = await tmpdir()
  const headers = { "content-type": "application/json", "anthropic-version": "2023-06-01" }
  await Config.load({ directory: tmp.path, inline: { provider: { a: { headers } } } })
  assert.equal(Secret.redact("application/json 2023-06-01"), "application/json 2023-06-01")
})
