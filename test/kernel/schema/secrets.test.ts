import assert from "node:assert/strict"
import { test } from "node:test"
import * as Config from "#kernel/config/config.ts"
import { shownUrl } from "#kernel/schema/secrets.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { writeGlobal } from "../config/fixture.ts"

test("Config.redacted() shows no key, token, header or function", async () => {
  await using tmp = await tmpdir()
  const inline: Config.Input = {
    model: "a/b",
    provider: { default: "a", a: { apiKey: "key-1", baseURL: "https://x", headers: { "x-key": "head-1" } } },
    mcp: {
      servers: [{ id: "s", name: "S", transport: "http", auth: { type: "bearer", token: "token-1" } }],
      hooks: { onLog: () => undefined },
    },
    environment: { pass: ["SOME_TOKEN"] },
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
    environment: { pass: ["SOME_TOKEN"] },
  })
  assert.equal((config.provider as Record<string, { apiKey?: string }>).a?.apiKey, "key-1")
})

test("Config.load() redacts the secrets of every layer, even of overridden values", async () => {
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

test("Config.load() does not redact ordinary header values", async () => {
  await using tmp = await tmpdir()
  const headers = { "content-type": "application/json", "anthropic-version": "2023-06-01" }
  await Config.load({ directory: tmp.path, inline: { provider: { a: { headers } } } })
  assert.equal(Secret.redact("application/json 2023-06-01"), "application/json 2023-06-01")
})

test("Config.redacted() removes user info and query from URLs, but not from patterns", async () => {
  await using tmp = await tmpdir()
  const inline: Config.Input = {
    $schema: "https://example.com/schema.json",
    permission: [{ permission: "network.fetch", pattern: "https://example.com/?q=*", action: "deny" }],
    provider: { a: { baseURL: "https://u:pass@h/v1?key=x" } },
    mcp: { servers: [{ id: "s", name: "S", transport: "http", url: "https://h/mcp?token=x#y" }] },
  }
  writeGlobal('{ "remote": { "url": "https://127.0.0.1:1/c.json?token=x" } }')
  const { config, layers } = await Config.inspect({ directory: tmp.path, inline })
  assert.deepEqual(Config.redacted(config), {
    ...inline,
    provider: { a: { baseURL: "https://h/v1" } },
    mcp: { servers: [{ id: "s", name: "S", transport: "http", url: "https://h/mcp" }] },
    remote: { url: "https://127.0.0.1:1/c.json" },
  })
  assert.equal(layers[0]?.path, "https://127.0.0.1:1/c.json")
})

test("Config.redacted() shows the program of a command and how many arguments it has", async () => {
  await using tmp = await tmpdir()
  const commands = [["npx"], ["npx", "--key=x"], ["npx", "-y", "--key", "x y"], ["npx -y --key x"], []]
  const servers = commands.map((command, i) => ({
    id: `${i}`,
    name: "S",
    transport: "stdio" as const,
    command,
  }))
  const shown = Config.redacted(await Config.load({ directory: tmp.path, inline: { mcp: { servers } } }))
  assert.deepEqual(
    (shown as typeof shown & { mcp: { servers: typeof servers } }).mcp.servers.map(({ command }) => command),
    [["npx"], ["npx", "[1 argument]"], ["npx", "[3 arguments]"], ["npx", "[3 arguments]"], []],
  )
})

for (const [url, shown] of [
  ["https://h", "https://h"],
  ["https://h:1/a/b", "https://h:1/a/b"],
  ["https://user:key@h/a?k=key#key", "https://h/a"],
  ["https:\\\\user:key@h\\a", "https://h/a"],
  ["user:key@h/a?k=key", "h/a"],
  ["https://user:key@[bad/?key", "[bad/"],
  ["localhost:1/a?key", "localhost:1/a"],
])
  test(`shownUrl() shows ${url} as ${shown}`, () => assert.equal(shownUrl(url!), shown))
