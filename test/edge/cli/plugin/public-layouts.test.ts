// Plugins in the layout of public ones: the same files and keys, with words of our own. And the example of docs/plugins.md.
import assert from "node:assert/strict"
import { execFile } from "node:child_process"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { test } from "node:test"
import { promisify } from "node:util"
import { command, vitamin } from "../../../fixture/cli.ts"
import { env, fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../../fixture/tmpdir.ts"

const shell = promisify(execFile)

type Files = Record<string, string>
type Layout = { files: Files; address?: string; shows: RegExp[]; typed?: string; sent?: RegExp }

const handler =
  '{"type":"command","command":"\\"${CLAUDE_PLUGIN_ROOT}/hooks/run-hook.cmd\\" session-start.sh"}'
const layouts: Record<string, Layout> = {
  "commit-commands, in the marketplace of anthropics/claude-code": {
    address: "#commit-commands",
    files: {
      ".claude-plugin/marketplace.json": JSON.stringify({
        $schema: "https://anthropic.com/claude-code/marketplace.schema.json",
        name: "claude-code-plugins",
        version: "1.0.0",
        owner: { name: "A", email: "a@example.com" },
        plugins: [
          { name: "agent-sdk-dev", source: "./plugins/agent-sdk-dev", category: "development" },
          { name: "commit-commands", version: "1.0.0", source: "./plugins/commit-commands" },
          { name: "Explanatory Output Style", source: "./plugins/commit-commands" },
        ],
      }),
      "plugins/commit-commands/.claude-plugin/plugin.json":
        '{"name":"commit-commands","version":"1.0.1","author":{"name":"A","email":"a@example.com"}}',
      "plugins/commit-commands/commands/commit.md":
        "---\nallowed-tools: Bash(git add:*), Bash(git status:*), Bash(git commit:*)\ndescription: Commit\n---\n\n- Status: !`git status`\n",
      "plugins/commit-commands/README.md": "# Commit",
    },
    shows: [
      /commit-commands 1\.0\.1/,
      /\/commit-commands:commit; runs git status; allows bash\.execute:git add/,
    ],
    typed: "/commit-commands:commit",
    sent: /- Status: On branch/,
  },
  "security-guidance of anthropics/claude-code": {
    files: {
      ".claude-plugin/plugin.json": '{"name":"security-guidance","version":"1.0.0"}',
      "hooks/hooks.json":
        '{"description":"Reminds","hooks":{"PreToolUse":[{"matcher":"Edit|Write|MultiEdit","hooks":[{"type":"command","command":"python3 ${CLAUDE_PLUGIN_ROOT}/hooks/remind.py"}]}]}}',
      "hooks/remind.py": "import sys\nsys.exit(0)\n",
    },
    shows: [/hooks +hooks\/hooks\.json: PreToolUse runs python3 \$\{CLAUDE_PLUGIN_ROOT\}\/hooks\/remind\.py/],
  },
  "obra/superpowers for Claude Code": {
    files: {
      ".claude-plugin/plugin.json":
        '{"name":"superpowers","version":"6.4.1","license":"MIT","keywords":["skills","tdd"],"homepage":"https://example.com"}',
      ".claude-plugin/marketplace.json":
        '{"name":"dev","owner":{"name":"A"},"plugins":[{"name":"superpowers","source":"./"}]}',
      "skills/test-first/SKILL.md":
        "---\nname: test-first\ndescription: Writes the test first.\n---\nWrite the TEST-FIRST.",
      "commands/brainstorm.md":
        '---\ndescription: "Thinks first"\ndisable-model-invocation: true\n---\n\nUse the skill for thinking.\n',
      "agents/code-reviewer.md":
        "---\nname: code-reviewer\ndescription: |\n  Use it after a step.\nmodel: inherit\n---\nYou review.",
      "hooks/hooks.json": `{"hooks":{"SessionStart":[{"matcher":"startup|resume|clear|compact","hooks":[${handler}]}]}}`,
      "hooks/run-hook.cmd": "#!/bin/sh\nexit 0\n",
    },
    shows: [/skills +skills\/test-first\/SKILL\.md/, /agent superpowers:code-reviewer/, /SessionStart runs/],
    typed: "/superpowers:test-first now",
    sent: /Write the TEST-FIRST/,
  },
  "obra/superpowers for Codex": {
    files: {
      ".codex-plugin/plugin.json":
        '{"name":"superpowers","version":"6.4.1","skills":"./skills/","hooks":"./hooks/hooks-codex.json","interface":{"displayName":"Superpowers","screenshots":[]}}',
      "skills/test-first/SKILL.md":
        "---\nname: test-first\ndescription: Writes the test first.\n---\nWrite the TEST-FIRST.",
      "hooks/hooks-codex.json":
        '{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"true"}]}]}}',
    },
    shows: [
      /hooks +hooks\/hooks-codex\.json: SessionStart runs true/,
      /skills +skills\/test-first\/SKILL\.md/,
    ],
    typed: "/superpowers:test-first now",
    sent: /Write the TEST-FIRST/,
  },
  "github of anthropics/claude-plugins-official": {
    files: {
      ".claude-plugin/plugin.json": '{"name":"github","description":"GitHub","author":{"name":"A"}}',
      ".mcp.json":
        '{"github":{"type":"http","url":"https://api.example.com/mcp/","headers":{"Authorization":"Bearer ${TOKEN_OF_TEST}"}}}',
    },
    shows: [/mcp +\.mcp\.json: github connects to https:\/\/api\.example\.com\/mcp\//],
  },
}

layouts["a plugin of Codex in a local marketplace"] = {
  files: {
    ".agents/plugins/marketplace.json":
      '{"name":"team","plugins":[{"name":"tools","source":{"source":"local","path":"./plugins/tools"}}]}',
    "plugins/tools/.codex-plugin/plugin.json": '{"name":"tools","skills":"./skills/"}',
    "plugins/tools/skills/notes/SKILL.md": "---\nname: notes\ndescription: Notes.\n---\nUse AHOY.",
  },
  shows: [/^tools 0\.0\.0/, /skills +skills\/notes\/SKILL\.md/],
  typed: "/tools:notes",
  sent: /Use AHOY/,
}
layouts["a package with its plugin in one folder, whose manifest names its commands"] = {
  files: {
    "package.json": '{"name":"memory"}',
    "plugin/.claude-plugin/plugin.json": '{"name":"memory","commands":["./commands/short/"]}',
    "plugin/commands/short/go.md": "GO-SHORT",
    "plugin/commands/other.md": "OTHER",
  },
  shows: [/commands +commands\/short\/go\.md: \/memory:go/, /^((?!memory:other|memory:short)[\s\S])*$/],
  typed: "/memory:go",
  sent: /GO-SHORT/,
}

function writeFiles(folder: string, files: Files): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
}

for (const [name, { files, address = "", shows, typed, sent }] of Object.entries(layouts))
  test(`a plugin in the layout of ${name} is installed unchanged`, async () => {
    await using tmp = await tmpdir({ git: true })
    writeFiles(join(tmp.path, "..", "source"), files)
    const { code, out, err } = await vitamin(tmp, ["plugin", "add", `../source${address}`, "--yes"])
    assert.equal(code, 0, err)
    for (const pattern of shows) assert.match(out, pattern)
    assert.doesNotMatch(out, /^ {2}! /m)
    await using llm = await fakeLlm(() => text("ok"))
    const { variables } = env(llm, "chat")
    const run = await vitamin(tmp, ["run", typed ?? "hello"], variables)
    assert.equal(run.code, 0, run.err)
    assert.match(llm.requests[0]!.messages.findLast(({ role }) => role === "user")!.text, sent ?? /hello/)
    const listed = await vitamin(tmp, ["mcp", "list"])
    assert.equal(listed.out.includes("plugin_github_github"), name.startsWith("github"))
  })

test("the example of docs/plugins.md works as it is written", async () => {
  await using tmp = await tmpdir({ git: true })
  const document = readFileSync(new URL("../../../../docs/plugins.md", import.meta.url), "utf8")
  const example = document.slice(document.indexOf("## Write one"), document.indexOf("## Code of a project"))
  tmp.write("README.md", "README-WORDS\n")
  const environment = await withCommand(tmp)
  await using llm = await fakeLlm([text("It follows the rules.")])
  const variables = { ...environment, ...env(llm, "chat").variables }
  let steps = 0
  for (const [, kind, body] of example.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)) {
    const [, path] = /^<!-- (.+) -->\n/.exec(body!) ?? []
    if (kind === "sh") await shell("sh", ["-ec", body!], { cwd: tmp.path, env: variables, timeout: 60_000 })
    else tmp.write(path!, body!.slice(body!.indexOf("\n") + 1))
    steps++
  }
  assert.equal(steps, 5)
  assert.match(llm.requests[0]!.raw, /against these rules:\\nNames are in English\./)
  assert.match(llm.requests[0]!.raw, /README-WORDS/)
})

/** An environment in which `vitamin` is the built command. */
async function withCommand(tmp: Tmp): Promise<Record<string, string>> {
  const bin = join(tmp.path, "..", "bin")
  mkdirSync(bin)
  writeFileSync(join(bin, "vitamin"), `#!/bin/sh\nexec '${process.execPath}' '${command}' "$@"\n`, {
    mode: 0o755,
  })
  const { NODE_TEST_CONTEXT: _, ...plain } = tmp.env
  return { ...plain, PATH: `${bin}:${dirname(process.execPath)}:${process.env.PATH}` }
}
