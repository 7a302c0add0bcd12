import assert from "node:assert/strict"
import { mkdirSync } from "node:fs"
import { join, relative } from "node:path"
import { test } from "node:test"
import * as Config from "#kernel/config/config.ts"
import { mergeLayers } from "#kernel/config/layers.ts"
import * as Trust from "#kernel/trust/trust.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { inInstance, withVariable, writeGlobal } from "./fixture.ts"

test("Config.load() returns an empty config if there are no files", async () => {
  await using tmp = await tmpdir()
  assert.deepEqual(await Config.load({ directory: tmp.path }), {})
})

test("Config.load() lets the project override the global file, key by key", async () => {
  await using tmp = await tmpdir()
  writeGlobal('{ "provider": { "default": "anthropic", "openai": { "apiKey": "k" } }, "model": "a/b" }')
  tmp.write(".vitamin/config.jsonc", '{ "provider": { "default": "openai" } } // mine')
  assert.deepEqual(await Config.load({ directory: tmp.path }), {
    provider: { default: "openai", openai: { apiKey: "k" } },
    model: "a/b",
  })
})

test("Config.load() applies global, project, TypeScript, VITAMIN_CONFIG and inline layers in this order", async () => {
  await using tmp = await tmpdir()
  const names = ["global", "project", "typescript", "environment", "inline"]
  const agentOf = async (inline?: Config.Input) => {
    await Trust.grant(tmp.path)
    return (await Config.load({ directory: tmp.path, inline })).agent?.name
  }
  writeGlobal('{ "agent": { "name": "global" } }')
  const seen = [await agentOf()]
  tmp.write(".vitamin/config.jsonc", '{ "agent": { "name": "project" } }')
  seen.push(await agentOf())
  tmp.write(".vitamin/config.ts", 'export default { agent: { name: "typescript" } }')
  seen.push(await agentOf())
  await withVariable('{ "agent": { "name": "environment" } }', async () => {
    seen.push(await agentOf())
    seen.push(await agentOf({ agent: { name: "inline" } }))
  })
  assert.deepEqual(seen, names)
})

test("Config.load() finds the project file from a folder inside the work tree", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write(".vitamin/config.jsonc", '{ "model": "a/b" }')
  mkdirSync(join(tmp.path, "deep/er"), { recursive: true })
  assert.equal((await Config.load({ directory: join(tmp.path, "deep/er") })).model, "a/b")
})

test("Config.load() takes VITAMIN_CONFIG as a path relative to the current folder", async () => {
  await using tmp = await tmpdir()
  const jsonc = relative(process.cwd(), tmp.write("elsewhere/own.jsonc", '{ "model": "from/jsonc" }'))
  const typescript = tmp.write("elsewhere/own.ts", 'export default { model: "from/ts" }')
  const modelWith = (value: string) =>
    withVariable(value, async () => (await Config.load({ directory: tmp.path })).model)
  assert.equal(await modelWith(jsonc), "from/jsonc")
  assert.equal(await modelWith(typescript), "from/ts")
  assert.equal(await modelWith(""), undefined)
})

test("Config.load() replaces lists, but appends permission rules", async () => {
  await using tmp = await tmpdir()
  writeGlobal(`{
    "permission": [{ "permission": "bash.execute", "action": "deny", "pattern": "*" }],
    "mcp": { "servers": [{ "id": "a", "name": "A", "transport": "stdio", "command": ["a"] }] }
  }`)
  tmp.write(
    ".vitamin/config.jsonc",
    `{
      "permission": [{ "permission": "bash.execute", "pattern": "git *", "action": "allow" }],
      "mcp": { "servers": [{ "id": "b", "name": "B", "transport": "http", "url": "http://localhost:1" }] }
    }`,
  )
  await Trust.grant(tmp.path)
  const config = await Config.load({ directory: tmp.path })
  assert.deepEqual(config.permission, [
    { permission: "bash.execute", pattern: "*", action: "deny" },
    { permission: "bash.execute", pattern: "git *", action: "allow" },
  ])
  assert.deepEqual(
    config.mcp?.servers.map(({ id }) => id),
    ["b"],
  )
})

test("Config.load() never lets a default of a higher layer hide an explicit value below", async () => {
  await using tmp = await tmpdir()
  writeGlobal('{ "skills": { "root": "mine" }, "rules": { "root": "RULES.md" } }')
  tmp.write(".vitamin/config.jsonc", '{ "skills": {}, "rules": {} }')
  await Trust.grant(tmp.path)
  const config = await Config.load({ directory: tmp.path })
  assert.deepEqual(config, { skills: { root: "mine" }, rules: { root: "RULES.md" } })
})

test("Config.load() fills in the defaults of the parts that are present", async () => {
  await using tmp = await tmpdir()
  const inline = {
    mcp: {},
    skills: {},
    rules: {},
    adapters: { acp: {}, sandbox: { security: {} } },
    scripts: {},
  }
  assert.deepEqual(await Config.load({ directory: tmp.path, inline }), {
    mcp: { servers: [] },
    skills: { root: ".plaited/skills" },
    rules: { root: "AGENTS.md" },
    adapters: {
      acp: { transport: "stdio" },
      sandbox: {
        enabled: false,
        security: { allowWrite: [], denyRead: ["~/.ssh", "~/.aws", ".env"], allowedDomains: [] },
      },
    },
    scripts: { persistence: "file", expirationDays: 30 },
  })
})

test("Config.load() uses a remote key only in the global file and in VITAMIN_CONFIG", async () => {
  await using tmp = await tmpdir()
  const remote = { url: "https://127.0.0.1:1/c.json" }
  const text = JSON.stringify({ remote })
  tmp.write(".vitamin/config.jsonc", text)
  tmp.write(".vitamin/config.ts", `export default ${text}`)
  await Trust.grant(tmp.path)
  const refused = await Config.inspect({ directory: tmp.path, inline: { remote } })
  assert.equal(refused.config.remote, undefined)
  assert.deepEqual(
    refused.ignored.map(({ source, key }) => [source, key]),
    [
      ["project", "remote"],
      ["typescript", "remote"],
      ["inline", "remote"],
    ],
  )
  await withVariable(text, async () =>
    assert.deepEqual((await Config.load({ directory: tmp.path })).remote, remote),
  )
  writeGlobal(text)
  assert.deepEqual((await Config.load({ directory: tmp.path })).remote, remote)
})

test("Config.inspect() says where each value came from and which layers were read", async () => {
  await using tmp = await tmpdir()
  const global = writeGlobal(`{
    "provider": { "default": "a", "my.id": { "baseURL": "https://x" } },
    "permission": [{ "permission": "file.read", "action": "ask", "pattern": "*" }]
  }`)
  const project = tmp.write(
    ".vitamin/config.jsonc",
    '{ "provider": { "default": "b" }, "permission": [{ "permission": "file.write", "action": "deny", "pattern": "*" }] }',
  )
  const inspection = await Config.inspect({
    directory: tmp.path,
    inline: { skills: {}, agent: { name: "n" } },
  })
  assert.deepEqual(inspection.origins, {
    "provider.default": "project",
    'provider["my.id"].baseURL': "global",
    "permission[0]": "global",
    "permission[1]": "project",
    "skills.root": "default",
    "agent.name": "inline",
  })
  assert.deepEqual(inspection.layers, [
    { source: "global", path: global, status: "loaded" },
    { source: "project", path: project, status: "loaded" },
    { source: "typescript", path: join(tmp.path, ".vitamin/config.ts"), status: "missing" },
    { source: "inline", status: "loaded" },
  ])
  assert.deepEqual([inspection.warnings, inspection.ignored], [[], []])
})

test("Config.inspect() removes unknown keys at any depth, and names their place and the nearest known key", async () => {
  await using tmp = await tmpdir()
  const file = writeGlobal(`{
  "modle": "a/b",
  "adapters": { "acp": { "prot": 1 } },
  "provider": { "openai": { "apikey": "k" } },
  "mcp": { "servers": [{ "id": "a", "name": "A", "transport": "stdio", "auht": {} }] },
  "zzzzzzzzzz": 1
}`)
  const { config, warnings } = await Config.inspect({ directory: tmp.path })
  assert.deepEqual(config, {
    adapters: { acp: { transport: "stdio" } },
    provider: { openai: {} },
    mcp: { servers: [{ id: "a", name: "A", transport: "stdio" }] },
  })
  const expected = [
    /:2:3: modle: .*did you mean "model"/,
    /:3:26: adapters\.acp\.prot: .*did you mean "port"/,
    /:4:29: provider\.openai\.apikey: .*did you mean "apiKey"/,
    /:5:72: mcp\.servers\[0\]\.auht: .*did you mean "auth"/,
    /:6:3: zzzzzzzzzz: .*known here: .*model/,
  ]
  assert.equal(warnings.length, expected.length, warnings.join("\n"))
  for (const pattern of expected)
    assert.ok(
      warnings.some((warning) => warning.startsWith(file) && pattern.test(warning)),
      `${pattern} in\n${warnings.join("\n")}`,
    )
})

test("Config.get() reads once per instance", async () => {
  await using tmp = await tmpdir()
  tmp.write(".vitamin/config.jsonc", '{ "model": "a/b" }')
  await inInstance(tmp.path, async () => {
    const first = await Config.get()
    tmp.write(".vitamin/config.jsonc", '{ "model": "c/d" }')
    assert.equal(first.model, "a/b")
    assert.equal(await Config.get(), first)
    assert.equal((await Config.current()).config, first)
  })
})

test("Config.get() retries after a failed first load", async () => {
  await using tmp = await tmpdir()
  tmp.write(".vitamin/config.jsonc", "{")
  await inInstance(tmp.path, async () => {
    await assert.rejects(Config.get(), Config.Invalid)
    tmp.write(".vitamin/config.jsonc", '{ "model": "a/b" }')
    assert.equal((await Config.get()).model, "a/b")
  })
})

test("mergeLayers() cannot pollute a prototype", () => {
  const evil = JSON.parse(
    '{ "__proto__": { "bad": 1 }, "provider": { "__proto__": { "bad": 1 }, "constructor": { "prototype": { "bad": 1 } } } }',
  )
  const merged = mergeLayers([
    { source: "low", value: { provider: {} } },
    { source: "high", value: evil },
  ])
  assert.equal(({} as { bad?: number }).bad, undefined)
  assert.equal((merged as { bad?: number }).bad, undefined)
  assert.deepEqual(Object.keys(merged.provider as object), ["constructor"])
})

test("mergeLayers() does not change the layers", () => {
  const low = { provider: { a: { apiKey: "1" } } }
  mergeLayers([
    { source: "low", value: low },
    { source: "high", value: { provider: { a: { apiKey: "2" } } } },
  ])
  assert.deepEqual(low, { provider: { a: { apiKey: "1" } } })
})

test("Config.inspect() with isTrusted false applies inline values, and nothing that only a trusted folder may set", async () => {
  await using tmp = await tmpdir()
  const allow = { permission: "bash.execute", pattern: "*", action: "allow" as const }
  tmp.write(".vitamin/config.jsonc", JSON.stringify({ model: "a/of-the-project", permission: [allow] }))
  await Trust.grant(tmp.path)
  const trusted = await Config.inspect({ directory: tmp.path })
  assert.deepEqual(trusted.config.permission, [allow])
  const deny = { ...allow, action: "deny" as const }
  const inline = { permission: [deny], model: "b/inline" }
  const untrusted = await Config.inspect({ directory: tmp.path, isTrusted: false, inline })
  assert.deepEqual(untrusted.config.permission, [deny])
  assert.equal(untrusted.config.model, "b/inline")
})
