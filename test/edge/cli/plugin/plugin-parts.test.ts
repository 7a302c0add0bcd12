// What plugins run: MCP servers, guards, and code in `.vitamin/plugins`.
import assert from "node:assert/strict"
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { test } from "node:test"
import { vitamin } from "../../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../../fixture/tmpdir.ts"

const everything = import.meta.resolve("@modelcontextprotocol/server-everything/dist/index.js")

async function add(tmp: Tmp, files: Record<string, string>): Promise<string> {
  const source = join(tmp.path, "..", "source")
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(source, path)), { recursive: true })
    writeFileSync(join(source, path), content)
  }
  const { code, out, err } = await vitamin(tmp, ["plugin", "add", "../source", "--yes"])
  assert.equal(code, 0, err)
  return out
}

function rootOf(tmp: Tmp): string {
  const lock = join(tmp.env.XDG_CONFIG_HOME!, "vitamin/plugins.lock.json")
  return join(
    tmp.env.XDG_DATA_HOME!,
    "vitamin/plugins",
    JSON.parse(readFileSync(lock, "utf8")).plugins[0].content,
  )
}

test("MCP servers of a plugin start from its copy, and not if their program was changed", async () => {
  await using tmp = await tmpdir({ git: true })
  const server = { command: "node", args: ["${CLAUDE_PLUGIN_ROOT}/server.mjs"] }
  const shown = await add(tmp, {
    ".claude-plugin/plugin.json": JSON.stringify({ name: "full", mcpServers: { inline: server } }),
    ".mcp.json": JSON.stringify({ mcpServers: { all: server } }),
    "server.mjs": `import ${JSON.stringify(everything)}\n`,
  })
  assert.match(shown, /mcp +\.mcp\.json: all runs node \$\{CLAUDE_PLUGIN_ROOT\}\/server\.mjs/)
  assert.match(shown, /mcp +\.claude-plugin\/plugin\.json#mcpServers: inline runs node/)
  for (const id of ["plugin_full_all", "plugin_full_inline"]) {
    const tested = await vitamin(tmp, ["mcp", "test", id])
    assert.equal(tested.code, 0, tested.out + tested.err)
    assert.match(tested.out, /connected .*the plugin full .*tools/)
  }
  const file = join(rootOf(tmp), "server.mjs")
  chmodSync(file, 0o600)
  writeFileSync(file, "import('node:fs').then((fs) => fs.writeFileSync('RAN', ''))\n")
  const refused = await vitamin(tmp, ["mcp", "test", "plugin_full_all"])
  assert.notEqual(refused.code, 0)
  assert.match(refused.out + refused.err, /server\.mjs: it is not as it was when the plugin was installed/)
})

test("guards of a plugin block calls", async () => {
  await using tmp = await tmpdir({ git: true })
  await add(tmp, {
    ".claude-plugin/plugin.json": '{"name":"careful"}',
    "guards/no-touch.ts":
      'export default { because: "the team does not touch", *thread() { for (;;) yield { block: "bash:touch*", waitFor: "never.done" } } }',
  })
  await using llm = await fakeLlm([call("bash", { command: "touch a.txt" }), text("done")])
  const run = await vitamin(tmp, ["run", "--yes", "go"], env(llm, "chat").variables)
  assert.match(run.err, /the team does not touch/)
  assert.equal(tmp.git("status", "--short"), "")
})

test("code in .vitamin/plugins runs after trust only, adds tools, and its deny rules outlive it", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write(
    ".vitamin/plugins/team.ts",
    `import { defineConfig, Tool, z } from "vitamin"
import { appendFileSync } from "node:fs"
appendFileSync(${JSON.stringify(join(tmp.path, "..", "ran"))}, "x")
Tool.define("team_word", () => ({ description: "The word of the team", readOnly: true,
  parameters: z.object({}), execute: async () => ({ text: "ABRACADABRA" }) }))
export default defineConfig({ permission: [{ permission: "bash.execute", pattern: "touch *", action: "deny" }] })
`,
  )
  await using llm = await fakeLlm(() => text("ok"))
  const { variables } = env(llm, "chat")
  const before = await vitamin(tmp, ["run", "hi"], variables)
  assert.match(before.err, /\.vitamin\/plugins\/team\.ts.*not trusted/)
  assert.throws(() => readFileSync(join(tmp.path, "..", "ran")))
  assert.equal((await vitamin(tmp, ["trust", "--yes"])).code, 0)
  const listed = await vitamin(tmp, ["tool", "list"])
  assert.match(listed.out, /team_word/, listed.err)
  rmSync(join(tmp.path, ".vitamin/plugins/team.ts"))
  await using denied = await fakeLlm([call("bash", { command: "touch b.txt" }), text("done")])
  const after = await vitamin(tmp, ["run", "--yes", "go"], env(denied, "chat").variables)
  assert.match(after.err, /denied by the rule "bash\.execute:touch \*"/)
})

test("a language server of a plugin reports what an edit broke, and not if its program was changed", async () => {
  await using tmp = await tmpdir({ git: true })
  const odd = new URL("../../../ability/lsp/odd-server.ts", import.meta.url).href
  const shown = await add(tmp, {
    ".claude-plugin/plugin.json": '{"name":"lang"}',
    ".lsp.json": JSON.stringify({
      odd: {
        command: process.execPath,
        args: ["${CLAUDE_PLUGIN_ROOT}/server.mjs"],
        extensionToLanguage: { ".odd": "odd" },
      },
    }),
    "server.mjs": `import ${JSON.stringify(odd)}\n`,
  })
  assert.match(shown, /lsp +\.lsp\.json: odd runs .*server\.mjs/)
  tmp.write(".vitamin/config.jsonc", '{ "lsp": { "wait": 20000 } }')
  const write = () => fakeLlm([call("write", { path: "a.odd", content: "this is BAD\n" }), text("done")])
  await using llm = await write()
  const run = await vitamin(tmp, ["run", "--trust", "--yes", "go"], env(llm, "chat").variables)
  assert.equal(run.code, 0, run.err)
  const results = llm.requests[1]!.messages.flatMap((one) => one.results).map((one) => JSON.stringify(one))
  assert.match(results.join(), /BAD/i)
  rmSync(join(tmp.path, "a.odd"))
  const file = join(rootOf(tmp), "server.mjs")
  chmodSync(file, 0o600)
  writeFileSync(file, "import 'node:fs'\n")
  await using second = await write()
  const after = await vitamin(tmp, ["run", "--trust", "--yes", "go"], env(second, "chat").variables)
  assert.match(
    after.err,
    /language servers of the plugin lang are not used: server\.mjs: it is not as it was/,
  )
})

test("hooks of a plugin run from its copy, and block the calls that they judge if their program was changed", async () => {
  await using tmp = await tmpdir({ git: true })
  await add(tmp, {
    ".claude-plugin/plugin.json": '{"name":"hooked"}',
    "hooks/hooks.json":
      '{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"sh \\"$CLAUDE_PLUGIN_ROOT\\"/hooks/no.sh"}]}]}}',
    "hooks/no.sh": 'echo "the plugin says no" >&2\nexit 2\n',
  })
  const touch = () => fakeLlm([call("bash", { command: "touch a.txt" }), text("done")])
  await using llm = await touch()
  const run = await vitamin(tmp, ["run", "--yes", "go"], env(llm, "chat").variables)
  assert.match(llm.requests[1]!.raw, /the plugin says no/, run.err)
  assert.equal(tmp.git("status", "--short"), "")
  const file = join(rootOf(tmp), "hooks/no.sh")
  chmodSync(file, 0o600)
  writeFileSync(file, "touch EVIL\n")
  await using second = await touch()
  const after = await vitamin(tmp, ["run", "--yes", "go"], env(second, "chat").variables)
  assert.match(after.err, /blocked bash: it was not run: it runs hooks\/no\.sh: it is not as it was/)
  assert.doesNotMatch(tmp.git("status", "--short"), /a\.txt/)
  assert.doesNotMatch(tmp.git("status", "--short"), /EVIL/)
})
