// Agent files of Claude Code and opencode, and unknown keys in any agent file, through the built command.
import assert from "node:assert/strict"
import { test } from "node:test"
import { mcpJson, tinyServer } from "../../ability/mcp/servers.ts"
import { vitamin } from "../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"

const claude = `---
name: code-reviewer
description: Reviews code. Use it after each change.
tools: Read, Grep, Bash(git diff:*), mcp__github__get_issue
disallowedTools: [Write]
model: sonnet
permissionMode: bypassPermissions
color: purple
maxTurns: 5
hooks: { Stop: [] }
---
You review code.
`
const opencode = `---
description: Writes documents
mode: all
model: openai/fake-model
temperature: 0.3
tools:
  webfetch: false
permission:
  edit: ask
  bash:
    "*": ask
    "git log*": allow
  doom_loop: ask
---
You write documents.
`

type Shown = {
  id: string
  mode: string
  model?: string
  tools?: string[]
  metadata: { description?: string }
  permissions: { permission: string; pattern: string; action: string }[]
}

function writeAgents(tmp: Tmp) {
  tmp.write(".claude/agents/reviewer.md", claude)
  tmp.write(".opencode/agent/docs.md", opencode)
  tmp.write(".opencode/agent/off.md", "---\ndescription: Off\ndisable: true\n---\nOff.\n")
  tmp.write(".claude/agents/code.ts", "throw new Error('never runs')\n")
}

async function shown(tmp: Tmp, id: string): Promise<Shown> {
  const { code, out, err } = await vitamin(tmp, ["agent", "show", id, "--format", "json"])
  assert.equal(code, 0, err)
  return JSON.parse(out)
}

const asText = ({ permissions }: Shown) =>
  permissions.map(({ permission, pattern, action }) => `${action} ${permission}:${pattern}`)

test("vitamin agent list and show read .claude/agents and .opencode/agent, and report ignored keys once", async () => {
  await using tmp = await tmpdir({ git: true })
  writeAgents(tmp)
  assert.equal((await vitamin(tmp, ["trust", "--yes"])).code, 0)
  const { code, out, err } = await vitamin(tmp, ["agent", "list"])
  assert.equal(code, 0, err)
  assert.match(out, /^code-reviewer +subagent .*Reviews code\. Use it after each change\.$/m)
  assert.match(out, /^docs +primary .*Writes documents$/m)
  assert.doesNotMatch(out, /^(off|code) /m)
  for (const left of [
    /reviewer\.md: permissionMode: "bypassPermissions" is left out/,
    /maxTurns: it is not supported/,
  ])
    assert.equal(err.split("\n").filter((line) => left.test(line)).length, 1, err)
  assert.match(err, /docs\.md: permission\.doom_loop: it is not supported/)
  assert.doesNotMatch(err, /color|never runs/)
  const reviewer = await shown(tmp, "code-reviewer")
  assert.deepEqual(reviewer.tools, ["read", "grep", "bash", "github_get_issue"])
  assert.deepEqual(asText(reviewer), [
    "deny bash.execute:*",
    "allow bash.execute:git diff",
    "allow bash.execute:git diff *",
    "deny file.write:*",
  ])
  assert.equal(reviewer.model, "sonnet")
  const docs = await shown(tmp, "docs")
  assert.deepEqual(asText(docs), [
    "deny network.fetch:*",
    "ask file.edit:*",
    "ask file.write:*",
    "ask bash.execute:*",
    "allow bash.execute:git log*",
  ])
})

test("vitamin run --agent uses the prompt, tools and rights of an agent of another tool", async () => {
  await using tmp = await tmpdir({ git: true })
  writeAgents(tmp)
  await vitamin(tmp, ["trust", "--yes"])
  await using llm = await fakeLlm([
    call("write", { path: "x.txt", content: "x" }),
    text("Reviewed."),
    text("Written."),
  ])
  const { variables } = env(llm, "chat")
  const review = await vitamin(tmp, ["run", "--yes", "--agent", "code-reviewer", "look"], variables)
  assert.equal(review.out, "Reviewed.", review.err)
  const [request] = llm.requests
  // Without a key for Anthropic the family is ignored, and the default model answers.
  assert.equal(request!.model, "fake-model")
  assert.match(request!.system, /You review code\./)
  assert.deepEqual(request!.tools.map(({ name }) => name).sort(), ["bash", "grep", "read"])
  const write = await vitamin(tmp, ["run", "--agent", "docs", "write"], variables)
  assert.equal(write.out, "Written.", write.err)
  assert.equal(llm.requests.at(-1)!.body.temperature, 0.3)
})

test("a model family of Claude Code means its newest model if there is a key", async () => {
  await using tmp = await tmpdir({ git: true })
  writeAgents(tmp)
  await using llm = await fakeLlm([text("Reviewed.")])
  const { code, err } = await vitamin(tmp, ["run", "--agent", "code-reviewer", "look"], {
    ANTHROPIC_API_KEY: "k-0123456789",
    ANTHROPIC_BASE_URL: llm.url,
    VITAMIN_MODEL: "anthropic/claude-haiku-4-5",
  })
  assert.equal(code, 0, err)
  assert.match(llm.requests[0]!.model, /^claude-sonnet-\d/)
})

test("allow rules of an unreviewed agent file of another tool are ignored, and its deny rules apply", async () => {
  await using tmp = await tmpdir({ git: true })
  writeAgents(tmp)
  assert.ok(!asText(await shown(tmp, "docs")).some((rule) => rule.startsWith("allow")))
  const { out } = await vitamin(tmp, ["trust", "--yes"])
  for (const path of [".claude/agents/reviewer.md", ".opencode/agent/docs.md"])
    assert.ok(out.includes(path), out)
  assert.ok(asText(await shown(tmp, "docs")).includes("allow bash.execute:git log*"))
  tmp.write(".opencode/agent/docs.md", "---\npermission: { bash: allow }\n---\nChanged.\n")
  const changed = asText(await shown(tmp, "docs"))
  assert.ok(changed.includes("deny network.fetch:*"), changed.join())
  assert.ok(!changed.some((rule) => rule.startsWith("allow")), changed.join())
})

test("ignored parts of many agent files of an untrusted folder are counted in one line, and listed at level info", async () => {
  await using tmp = await tmpdir({ git: true })
  for (let i = 0; i < 12; i++) {
    tmp.write(`.claude/agents/c${i}.md`, claude.replace("code-reviewer", `c${i}`))
    tmp.write(`.opencode/agent/o${i}.md`, opencode)
  }
  const linesOf = (err: string) => err.split("\n").filter((line) => /^warning: | (WARN|INFO) /.test(line))
  const { code, out, err } = await vitamin(tmp, ["agent", "list"])
  assert.equal(code, 0, err)
  assert.match(out, /^c11 /m)
  const [line, ...more] = linesOf(err)
  assert.deepEqual(more, [])
  assert.match(
    line!,
    /^warning: (\d+) settings in 24 agent files are ignored: the folder is not trusted; "vitamin trust"/,
  )
  assert.match(line!, /folders: ".claude\/agents, .opencode\/agent"/)
  const detailed = linesOf((await vitamin(tmp, ["agent", "list"], { VITAMIN_LOG: "info" })).err)
  const [, count] = / (\d+) settings/.exec(line!)!
  assert.equal(detailed.filter((one) => one.includes("is ignored: ")).length, Number(count))
})

test("an agent with misspelt permissions or tools is not used, because it would have too many rights", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write(".vitamin/agents/mine.md", "---\npermisions: []\n---\nWork.\n")
  tmp.write(".claude/agents/other.md", "---\nname: other\ntool: Read\n---\nWork.\n")
  const { out, err } = await vitamin(tmp, ["agent", "list"])
  assert.doesNotMatch(out, /^(mine|other) /m)
  assert.match(err, /mine\.md:2:1: permisions: .*did you mean "permissions"/)
  assert.match(err, /other\.md:3:1: tool: .*did you mean "tools"/)
})

test("unknown keys in .vitamin/agents do not disable an agent, and the nearest known key is named", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write(".vitamin/agents/mine.md", "---\ndescription: Mine\ndomian: x\n---\nWork.\n")
  tmp.write(".vitamin/agents/yours.yaml", "description: Yours\nsystemPrompt: Work.\nzzz: 1\n")
  const { out, err } = await vitamin(tmp, ["agent", "list"])
  assert.match(out, /^mine .*Mine$/m)
  assert.match(out, /^yours .*Yours$/m)
  assert.match(err, /mine\.md:3:1: domian: the key is unknown.*did you mean "domain"/)
  assert.match(err, /yours\.yaml:3:1: zzz: the key is unknown/)
})

test("keys of metadata that are misspelt or stand outside of it are reported; other keys of it are allowed", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write(".vitamin/agents/mine.md", "---\nmetadata: { prefixs: [jira_], author: me }\n---\nWork.\n")
  tmp.write(".vitamin/agents/yours.md", "---\nprefixes: [jira_]\n---\nWork.\n")
  const { out, err } = await vitamin(tmp, ["agent", "list"])
  assert.match(out, /^mine .*^yours /ms)
  assert.match(err, /mine\.md: metadata\.prefixs: the key is not used; did you mean "prefixes"\?/)
  assert.match(err, /yours\.md: prefixes: it belongs into metadata/)
  assert.doesNotMatch(err, /author/)
})

test("an agent of another tool with a misspelt action or switch is not used, and its file and key are named", async () => {
  await using tmp = await tmpdir({ git: true })
  const files: Record<string, [given: string, says: RegExp]> = {
    whole: ["permission: dney", /whole\.md: permission: expected allow, ask or deny, received "dney"/],
    tool: ["permission: { bash: dney }", /tool\.md: permission\.bash: expected allow/],
    line: [
      'permission: { bash: { "*": allow, "rm *": dney } }',
      /line\.md: permission\.bash\.rm \*: expected/,
    ],
    switch: [
      'tools: { write: "false" }',
      /switch\.md: tools\.write: expected true or false, received "false"/,
    ],
    names: ["disallowedTools: { Bash: true }", /names\.md: disallowedTools: expected names of tools/],
  }
  for (const [name, [given]] of Object.entries(files))
    tmp.write(`.opencode/agent/${name}.md`, `---\ndescription: D\n${given}\n---\nWork.\n`)
  const { out, err } = await vitamin(tmp, ["agent", "list"])
  for (const [name, [, says]] of Object.entries(files)) {
    assert.doesNotMatch(out, new RegExp(`^${name} `, "m"))
    assert.match(err, says)
  }
})

test("an agent may use mcp__my__srv__get of a server whose own name has two underscores, and nothing else", async () => {
  await using tmp = await tmpdir({ git: true })
  const one = { inputSchema: { type: "object" } }
  const tools = ["get", "put"].map((name) => ({ ...one, name, description: name }))
  tmp.write(".mcp.json", mcpJson({ my__srv: tinyServer({ tools }), other: tinyServer({ tools }) }))
  const names = "mcp__my__srv__get, mcp__other__get, mcp__my__gone__get"
  tmp.write(".claude/agents/one.md", `---\ndescription: D\ntools: ${names}\n---\nWork.\n`)
  await vitamin(tmp, ["trust", "--yes"])
  await vitamin(tmp, ["mcp", "test"])
  const shown = await vitamin(tmp, ["agent", "show", "one", "--format", "json"])
  assert.deepEqual(JSON.parse(shown.out).usableTools, ["my__srv_get", "other_get"])
  const lines = (await vitamin(tmp, ["agent", "show", "one"])).out
  assert.match(lines, /^tools +my__srv_get, other_get$/m)
  assert.match(lines, /^not here +mcp__my__gone__get$/m)
})

for (const [name, usable] of [
  ["mcp__other", ["other_get", "other_put"]],
  ["mcp__other__*", ["other_get", "other_put"]],
  ["mcp__my__other__*", ["my__other_get", "my__other_put"]],
] as const)
  test(`tools: ${name} allows all tools of that server, and nothing else`, async () => {
    await using tmp = await tmpdir({ git: true })
    const one = { inputSchema: { type: "object" } }
    const tools = ["get", "put"].map((id) => ({ ...one, name: id, description: id }))
    const own = tinyServer({ tools: [{ ...one, name: "other", description: "other" }] })
    const server = tinyServer({ tools })
    tmp.write(".mcp.json", mcpJson({ other: server, other2: server, my__other: server, my: own }))
    tmp.write(".vitamin/agents/one.md", `---\ndescription: D\ntools: ${name}, mcp__gone\n---\nWork.\n`)
    await vitamin(tmp, ["trust", "--yes"])
    await vitamin(tmp, ["mcp", "test"])
    const shown = await vitamin(tmp, ["agent", "show", "one", "--format", "json"])
    assert.deepEqual(JSON.parse(shown.out).usableTools, usable)
    const lines = (await vitamin(tmp, ["agent", "show", "one"])).out
    assert.match(lines, /^not here +mcp__gone$/m)
  })

for (const [given, expected, says] of [
  [
    "disallowedTools: mcp__github__create_issue, mcp__jira",
    "deny mcp.call:github/create_issue, deny mcp.call:github__create_issue/*, deny mcp.call:jira/*",
  ],
  [
    "disallowedTools: WebSearch",
    "deny tool.execute:WebSearch",
    /disallowedTools: WebSearch is not a built-in tool/,
  ],
  ["disallowedTools: Bash(rm:*)", "deny bash.execute:rm, deny bash.execute:rm *"],
  ["disallowedTools: Write(docs/*)", "deny file.write:*", /Write\(docs\/\*\) denies the whole tool/],
  ['tools: { "mymcp_*": false }', "deny tool.execute:mymcp_*, deny mcp.call:mymcp/*, deny mcp.call:mymcp_*"],
  ["tools: { symbols: false }", "deny file.read:*"],
  ["tools: Bash, Bash(git diff:*)", ""],
  ["tools: Read, Write(docs/*)", "", /tools: Write\(docs\/\*\) is left out/],
  [
    "permissionMode: acceptEdits\ndisallowedTools: Write",
    "allow file.edit:**, allow file.write:**, deny file.write:*",
  ],
  [
    "permissionMode: plan\ntools: Bash(git diff)",
    "deny bash.execute:*, allow bash.execute:git diff, deny file.write:*, deny file.edit:*, deny file.write:*, deny bash.execute:*",
  ],
  ["permission: { edit: allow }", "allow file.edit:**, allow file.write:**"],
  ['permission: { read: { "*": allow, "*.env": deny } }', "allow file.read:**, deny file.read:**/*.env"],
  [
    'permission: { "*": allow, "mymcp_get": ask }',
    "allow *:*, ask tool.execute:mymcp_get, ask mcp.call:mymcp/get",
  ],
  [
    'permission: { bash: { "*": ask, "rm ?": deny, "ls ?": allow }, "my?_get": deny }',
    "ask bash.execute:*, deny bash.execute:rm *, deny tool.execute:my*_get, deny mcp.call:my*/get",
    /permission\.bash\.ls \?: it is ignored: "\?" is not supported in a rule that allows/,
  ],
  ['tools: { "my?_get": false }', "deny tool.execute:my*_get, deny mcp.call:my*/get"],
  [
    "disallowedTools: mcp__my__srv__get",
    "deny mcp.call:my/srv__get, deny mcp.call:my__srv/get, deny mcp.call:my__srv__get/*",
  ],
  ["disallowedTools: mcp__my__srv", "deny mcp.call:my/srv, deny mcp.call:my__srv/*"],
] as [given: string, expected: string, says?: RegExp][])
  test(`an agent with ${JSON.stringify(given)} has the rules "${expected}"`, async () => {
    await using tmp = await tmpdir({ git: true })
    tmp.write(".claude/agents/one.md", `---\ndescription: D\n${given}\n---\nWork.\n`)
    await vitamin(tmp, ["trust", "--yes"])
    const { out, err } = await vitamin(tmp, ["agent", "show", "one", "--format", "json"])
    assert.equal(asText(JSON.parse(out)).join(", "), expected)
    if (says) assert.match(err, says)
    else assert.doesNotMatch(err, /is ignored/)
  })
