// `vitamin hook list`, and hooks through the built command: functions, tools of MCP servers, and what people see.
import assert from "node:assert/strict"
import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { vitamin } from "../../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../../fixture/tmpdir.ts"

const file = (hooks: object) => JSON.stringify({ hooks })
const one = (command: string, matcher?: string) => [
  { ...(matcher ? { matcher } : {}), hooks: [{ type: "command", command }] },
]

function writeOwn({ env }: Tmp, hooks: object): void {
  const folder = join(env.XDG_CONFIG_HOME!, "vitamin")
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, "hooks.json"), file(hooks))
}

test("vitamin hook list shows hooks with their source, and names what is not used", async () => {
  await using tmp = await tmpdir({ git: true })
  const none = await vitamin(tmp, ["hook", "list"])
  assert.match(none.out, /^No hooks\. docs\/hooks\.md/)
  writeOwn(tmp, { Stop: one("notify-send done"), Stopp: [] })
  tmp.write(".vitamin/hooks.json", file({ PreToolUse: one("bash check.sh", "Bash") }))
  const untrusted = await vitamin(tmp, ["hook", "list"])
  assert.match(untrusted.out, /^Stop +\* +notify-send done +\(.*hooks\.json\)$/m)
  assert.match(
    untrusted.out,
    /^not used +.*hooks\.Stopp: there is no such event here; did you mean "Stop"\?/m,
  )
  assert.match(
    untrusted.out.replaceAll(/\s+/g, " "),
    /not used .*\.vitamin\/hooks\.json: its hooks are not used: the folder is not trusted/,
  )
  assert.doesNotMatch(untrusted.out, /PreToolUse/)
  await vitamin(tmp, ["trust", "--yes"])
  const trusted = await vitamin(tmp, ["hook", "list"])
  assert.match(trusted.out, /^PreToolUse +Bash +check\.sh +\(\.vitamin\/hooks\.json\)$/m)
  const { hooks } = JSON.parse((await vitamin(tmp, ["hook", "list", "--format", "json"])).out)
  assert.deepEqual(
    hooks.map(({ event, type, timeout }: { event: string; type: string; timeout: number }) => [
      event,
      type,
      timeout,
    ]),
    [
      ["Stop", "command", 60],
      ["PreToolUse", "command", 60],
    ],
  )
})

test("vitamin trust reviews hooks with the scripts that they run, and of other settings only the hooks", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write(".vitamin/hooks.json", file({ PreToolUse: one('bash "$CLAUDE_PROJECT_DIR"/tools/check.sh') }))
  tmp.write("tools/check.sh", "true\n")
  const settings = (more: object) =>
    tmp.write(".claude/settings.json", JSON.stringify({ ...more, hooks: { Stop: one("true") } }))
  settings({})
  const { out, err } = await vitamin(tmp, ["trust", "--yes"])
  for (const name of [".vitamin/hooks.json", "tools/check.sh", ".claude/settings.json"])
    assert.ok((out + err).includes(name), `${name} in ${out}${err}`)
  settings({ model: "opus", permissions: { allow: ["Bash(ls)"] } })
  const again = await vitamin(tmp, ["trust", "--yes"])
  assert.doesNotMatch(again.out + again.err, /settings\.json/)
})

test("functions of the configuration judge calls, and errors in them are named", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("bash", { command: "touch a" }), call("ls"), text("Done.")])
  tmp.write(
    ".vitamin/config.ts",
    `import { defineConfig } from "vitamin"
export default defineConfig({
  hooks: {
    on: {
      PreToolUse: [
        { matcher: "Bash", hooks: [async function noShell(input, id, { signal }) {
          if (signal.aborted || typeof id !== "string") return
          return { decision: "block", reason: "no shell: " + input.tool_input.command }
        }] },
        { hooks: [function broken() { throw new Error("a mistake") }, function idle() {}] },
      ],
      PostToolUse: [{ hooks: [() => new Promise(() => {})], timeout: 0.3 }],
    },
  },
})
`,
  )
  const { code, err } = await vitamin(tmp, ["run", "--yes", "--trust", "go"], env(llm, "chat").variables)
  assert.equal(code, 0, err)
  assert.match(err, /hook "noShell" \(PreToolUse\) blocked bash: no shell: touch a/)
  assert.match(err, /hook "broken" \(PreToolUse\) failed: a mistake/)
  assert.match(err, /\(PostToolUse\) failed: it did not end within 0\.3 s/)
  assert.ok(!existsSync(join(tmp.path, "a")))
})

const server = `let rest = ""
process.stdin.on("data", (chunk) => {
  const lines = (rest + chunk).split("\\n")
  rest = lines.pop()
  for (const line of lines) {
    const { id, method, params } = JSON.parse(line)
    if (id === undefined) continue
    const { name, arguments: args } = params ?? {}
    const said = JSON.stringify({ decision: "block", reason: name + " saw " + args?.path })
    const result =
      method === "initialize"
        ? { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } }
        : method === "tools/list"
          ? { tools: [{ name: "check", inputSchema: { type: "object" } }] }
          : { content: [{ type: "text", text: said }] }
    process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\\n")
  }
})
`

test("a tool of an MCP server is a hook, with fields of the input as its arguments", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("write", { path: "a", content: "x" }), call("ls"), text("Done.")])
  tmp.write("server.mjs", server)
  tmp.write(
    ".mcp.json",
    JSON.stringify({ mcpServers: { scan: { command: process.execPath, args: ["server.mjs"] } } }),
  )
  const input = { path: `\${tool_input.file_path}` }
  tmp.write(
    ".vitamin/hooks.json",
    file({
      PreToolUse: [
        { matcher: "Write", hooks: [{ type: "mcp_tool", server: "scan", tool: "check", input }] },
        { matcher: "LS", hooks: [{ type: "mcp_tool", server: "none", tool: "check" }] },
      ],
    }),
  )
  const { code, err } = await vitamin(tmp, ["run", "--yes", "--trust", "go"], env(llm, "chat").variables)
  assert.equal(code, 0, err)
  assert.ok(
    err.includes(`hook "scan/check" (PreToolUse) blocked write: check saw ${join(tmp.path, "a")}`),
    err,
  )
  assert.match(err, /hook "none\/check" \(PreToolUse\) failed: .*none/)
})
