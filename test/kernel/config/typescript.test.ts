import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { join } from "node:path"
import { test } from "node:test"
import * as Config from "#kernel/config/config.ts"
import { defineConfig, importConfig, loadConfig, publicModule } from "#kernel/config/typescript.ts"
import * as Trust from "#kernel/trust/trust.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { problemsOf } from "./fixture.ts"

// The example of the original configuration document, verbatim.
const example = `// .plaited/config.ts

import { defineConfig } from 'plaited/agent'

export default defineConfig({
  // Agent settings
  agent: {
    name: 'my-project-agent',
    model: 'functiongemma',
  },

  // MCP servers (merged with ACP session/new config)
  mcp: {
    servers: [
      {
        id: 'github',
        name: 'GitHub MCP',
        transport: 'http',
        url: 'https://mcp.github.com',
        auth: { type: 'oauth', clientId: process.env.GITHUB_CLIENT_ID },
      },
      {
        id: 'local-db',
        name: 'Local Database',
        transport: 'http',
        url: 'http://localhost:3001',
      },
    ],
    hooks: {
      onLog: (log) => console.log('[MCP]', log),
    },
  },

  // Skills (path relative to project root)
  skills: {
    root: '.plaited/skills',  // Default
  },

  // Rules
  rules: {
    root: 'AGENTS.md',
  },

  // Adapters
  adapters: {
    // Default: ACP
    acp: {
      transport: 'stdio',
    },
    // Optional: Sandbox (wraps agent)
    sandbox: {
      enabled: process.env.NODE_ENV === 'production',
      security: {
        allowWrite: ['./output'],
        denyRead: ['~/.ssh', '~/.aws', '.env'],
        allowedDomains: [],
      },
    },
  },

  // Scripts (promoted code - future)
  scripts: {
    persistence: 'file',
    path: '.plaited/scripts.json',
    expirationDays: 30,
  },
})
`

test("loadConfig() loads the documented example in a folder without node_modules", async () => {
  await using tmp = await tmpdir()
  const config = await loadConfig(tmp.write(".plaited/config.ts", example))
  assert.equal(config.agent.name, "my-project-agent")
  assert.deepEqual(config.mcp?.servers[0]?.auth, { type: "oauth" })
  assert.equal(typeof config.mcp?.hooks?.onLog, "function")
  assert.deepEqual(config.adapters?.sandbox?.security?.allowWrite, ["./output"])
  assert.deepEqual(config.scripts, { persistence: "file", path: ".plaited/scripts.json", expirationDays: 30 })
})

test("Config.load() loads the example as the TypeScript layer and keeps its hooks", async () => {
  await using tmp = await tmpdir()
  tmp.write(".plaited/config.ts", example)
  await Trust.grant(tmp.path)
  const { config, origins } = await Config.inspect({ directory: tmp.path })
  assert.equal(config.agent?.name, "my-project-agent")
  assert.equal(typeof config.mcp?.hooks?.onLog, "function")
  assert.equal(origins["mcp.hooks.onLog"], "typescript")
  assert.deepEqual(
    config.mcp?.servers.map(({ id }) => id),
    ["github", "local-db"],
  )
})

test("Config.load() prefers .vitamin/config.ts to .plaited/config.ts", async () => {
  await using tmp = await tmpdir()
  tmp.write(".plaited/config.ts", 'export default { model: "p/p" }')
  tmp.write(".vitamin/config.ts", 'export default { agent: { name: "v" } }')
  await Trust.grant(tmp.path)
  assert.deepEqual(await Config.load({ directory: tmp.path }), { agent: { name: "v" } })
})

for (const name of [
  "@vitamin-agent/vitamin",
  "@vitamin-agent/vitamin/agent",
  "vitamin",
  "vitamin/agent",
  "plaited/agent",
])
  test(`loadConfig() resolves ${name} to this program, even if a package of that name is installed`, async () => {
    await using tmp = await tmpdir()
    tmp.write("package.json", '{ "type": "commonjs" }')
    tmp.write(`node_modules/${name}/index.js`, "throw new Error('foreign')")
    const code = `import { defineConfig } from "${name}"\nexport default defineConfig({ agent: { name: "n" } as { name: string } })`
    assert.equal((await loadConfig(tmp.write("config.ts", code))).agent.name, "n")
  })

for (const name of ["@vitamin-agent/vitamin/behavioral", "vitamin/behavioral"])
  test(`importConfig() resolves ${name} to this program`, async () => {
    await using tmp = await tmpdir()
    const code = `import { bSync } from "${name}"\nexport default bSync({ block: "deploy" }).idiom.block`
    assert.equal(await importConfig(tmp.write("guard.ts", code), Buffer.from(code)), "deploy")
  })

test("loadConfig() causes no warning of Node", async () => {
  await using tmp = await tmpdir()
  const file = tmp.write(
    "config.ts",
    'import { defineConfig } from "vitamin"\nexport default defineConfig({ agent: { name: "n" } })',
  )
  const code = `import { loadConfig } from ${JSON.stringify(publicModule)}; console.log((await loadConfig(${JSON.stringify(file)})).agent.model)`
  const script = tmp.write("main.mjs", code)
  const output = execFileSync("sh", ["-c", `"${process.execPath}" "${script}" 2>&1`], {
    encoding: "utf8",
    cwd: tmp.path,
  })
  assert.equal(output, "functiongemma\n")
})

test("loadConfig() fills in the documented defaults", async () => {
  await using tmp = await tmpdir()
  const code =
    'export default { agent: { name: "n" }, mcp: {}, skills: {}, rules: {}, adapters: { acp: {}, sandbox: { security: {} } }, scripts: {} }'
  assert.deepEqual(await loadConfig(tmp.write("config.ts", code)), {
    agent: { name: "n", model: "functiongemma" },
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

test("loadConfig() requires an agent with a name", async () => {
  await using tmp = await tmpdir()
  const none = await problemsOf(() => loadConfig(tmp.write("a.ts", "export default {}")))
  assert.match(none.message, /a\.ts: agent: is missing/)
  const unnamed = await problemsOf(() => loadConfig(tmp.write("b.ts", "export default { agent: {} }")))
  assert.match(unnamed.message, /b\.ts: agent\.name: is missing; expected string/)
})

test("loadConfig() names a file that is missing, throws, is broken, or exports nothing", async () => {
  await using tmp = await tmpdir()
  const messageOf = async (name: string, code: string) =>
    (await problemsOf(() => loadConfig(tmp.write(name, code)))).message
  const missing = await problemsOf(() => loadConfig(join(tmp.path, "none.ts")))
  assert.match(missing.message, /none\.ts: the file does not exist/)
  assert.match(
    await messageOf("throws.ts", 'const a: number = 1\nthrow new Error("boom")'),
    /throws\.ts:2:7: boom$/,
  )
  assert.match(await messageOf("broken.ts", "export default {\n  a: 1\n  b: 2\n}"), /broken\.ts:3: Expected/)
  assert.match(
    await messageOf("enum.ts", "enum A { B }\nexport default {}"),
    /enum\.ts:1: .*enum is not supported/,
  )
  assert.match(await messageOf("import.ts", 'import "no-such-package"'), /import\.ts: .*no-such-package/)
  assert.match(await messageOf("nothing.ts", "export const a = 1"), /nothing\.ts: there is no default export/)
  assert.match(await messageOf("odd.ts", "throw undefined"), /odd\.ts: /)
})

test("Config.load() throws Config.Invalid for a TypeScript file that throws", async () => {
  await using tmp = await tmpdir()
  const file = tmp.write(".vitamin/config.ts", 'throw new Error("boom")')
  await Trust.grant(tmp.path)
  const { problems } = await problemsOf(() => Config.load({ directory: tmp.path }))
  assert.deepEqual(problems, [{ source: file, line: 1, column: 7, path: "", message: "boom" }])
})

test("importConfig() gives up on an import that never ends", async () => {
  await using tmp = await tmpdir()
  const code = "await new Promise(() => {})\nexport default {}"
  const file = tmp.write("hangs.ts", code)
  const { message } = await problemsOf(() => importConfig(file, Buffer.from(code), { timeout: 50 }))
  assert.match(message, /hangs\.ts: the import took longer than 0\.05 s/)
})

test("loadConfig() loads new content, and returns the same functions for the same content", async () => {
  await using tmp = await tmpdir()
  const write = (name: string) =>
    tmp.write("config.ts", `export default { agent: { name: "${name}" }, mcp: { hooks: { onLog() {} } } }`)
  const first = await loadConfig(write("one"))
  const again = await loadConfig(write("one"))
  const second = await loadConfig(write("two"))
  assert.equal(first.mcp?.hooks?.onLog, again.mcp?.hooks?.onLog)
  assert.deepEqual([first.agent.name, second.agent.name], ["one", "two"])
})

test("loadConfig() does not change the object of the file", async () => {
  await using tmp = await tmpdir()
  const code = 'export const own = { agent: { name: "n", nmae: "x" } }\nexport default own'
  const file = tmp.write("config.ts", code)
  assert.deepEqual((await loadConfig(file)).agent, { name: "n", model: "functiongemma" })
  assert.deepEqual(await importConfig(file, Buffer.from(code)), { agent: { name: "n", nmae: "x" } })
})

test("defineConfig() returns its argument", () => {
  const config = { agent: { name: "n" }, provider: { default: "a", a: { apiKey: "k" } } }
  assert.equal(defineConfig(config), config)
})
