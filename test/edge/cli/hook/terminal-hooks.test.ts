// Hooks in the interactive terminal: what a person sees, prompts that join a busy turn, questions, and why sessions end.
import assert from "node:assert/strict"
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { test } from "node:test"
import { fileURLToPath } from "node:url"
import { mcpJson, officialServer } from "../../../ability/mcp/servers.ts"
import { type Commands, hooksJson } from "../../../engine/hook/harness.ts"
import { vitamin } from "../../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { openTerminal } from "../../../fixture/terminal.ts"
import { type Tmp, tmpdir } from "../../../fixture/tmpdir.ts"
import { until } from "../../../fixture/until.ts"
import { openXterm } from "../../../fixture/xterm.ts"

const shortMinute = fileURLToPath(new URL("../../../fixture/short-minute.mjs", import.meta.url))
const note = 'cat >> "$CLAUDE_PROJECT_DIR"/log'
const all = [
  "SessionStart",
  "UserPromptSubmit",
  "PreToolUse",
  "PostToolUse",
  "Notification",
  "Stop",
  "SessionEnd",
]
const everything = Object.fromEntries(all.map((event) => [event, note]))

function writeHooks(tmp: Tmp, commands: Commands): void {
  const file = join(tmp.env.XDG_CONFIG_HOME!, "vitamin/hooks.json")
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, hooksJson(commands))
}

/** What the hooks were told: the event, and what tells its occurrences apart. */
function told(tmp: Tmp): string[] {
  const file = join(tmp.path, "log")
  const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : []
  return lines.map((line) => {
    const input = JSON.parse(line)
    const { source, prompt, notification_type, reason, last_assistant_message } = input
    const detail =
      source ?? prompt ?? notification_type ?? reason ?? last_assistant_message ?? input.tool_name
    return `${input.hook_event_name} ${detail}`
  })
}

test("hooks run in the terminal: their notices are shown, and they are told why a session ends", async () => {
  await using tmp = await tmpdir({ git: true })
  writeHooks(tmp, {
    ...everything,
    UserPromptSubmit: [note, "grep -q secret && { echo not this word >&2; exit 2; }; true"],
  })
  await using llm = await fakeLlm([call("bash", { command: "touch ran" }), text("First."), text("Second.")])
  await using terminal = await openXterm(tmp, [], { env: env(llm, "chat").variables, rows: 50 })
  await terminal.sees(/^ask · /m)
  terminal.type("a secret\r")
  await terminal.sees("not this word")
  assert.equal(llm.requests.length, 0)
  terminal.type("\u0015one\r")
  await terminal.sees("[y]es")
  await new Promise((resolve) => setTimeout(resolve, 700))
  terminal.type("y")
  await terminal.sees("First.")
  await terminal.sees(/^ask · /m)
  terminal.type("/new\r")
  await terminal.sees("begins a new session")
  terminal.type("two\r")
  await terminal.sees("Second.")
  await terminal.sees(/^ask · /m)
  terminal.type("/quit\r")
  await terminal.exit
  assert.deepEqual(
    told(tmp).filter((line) => !line.endsWith("a secret")),
    [
      "SessionStart startup",
      "UserPromptSubmit one",
      "PreToolUse Bash",
      "Notification permission_prompt",
      "PostToolUse Bash",
      "Stop First.",
      "SessionEnd clear",
      "SessionStart clear",
      "UserPromptSubmit two",
      "Stop Second.",
      "SessionEnd prompt_input_exit",
    ],
  )
})

test("a prompt that joins a busy turn passes the hooks, and one that they block does not join", async () => {
  await using tmp = await tmpdir({ git: true })
  writeHooks(tmp, {
    UserPromptSubmit: [
      note,
      "grep -q secret && { echo not this word >&2; exit 2; }; echo CONTEXT-OF-HOOK $(date +%N)",
    ],
  })
  const wait = "while [ ! -e go ]; do sleep 0.05; done"
  await using llm = await fakeLlm([call("bash", { command: wait }), text("Both done.")])
  await using terminal = await openXterm(tmp, [], { env: env(llm, "chat").variables, rows: 50 })
  await terminal.sees(/^ask · /m)
  terminal.type("begin\r")
  await terminal.sees("[y]es")
  await new Promise((resolve) => setTimeout(resolve, 700))
  terminal.type("y")
  await until(() => !terminal.screen().includes("[y]es"), "the answer to count")
  terminal.type("also this\r")
  await terminal.sees(/waits: also this/)
  terminal.type("and a secret\r")
  const prompts = join(tmp.env.XDG_DATA_HOME!, "vitamin/storage/prompt/*.json")
  await until(() => globSync(prompts).length === 2, "both wait")
  tmp.write("go", "")
  await terminal.sees("Both done.")
  await terminal.sees(/\) blocked.*not this word/s)
  assert.deepEqual(told(tmp), [
    "UserPromptSubmit begin",
    "UserPromptSubmit also this",
    "UserPromptSubmit and a secret",
  ])
  const users = llm.requests[1]!.messages.filter(({ role }) => role === "user").map((one) => one.text)
  assert.ok(users.includes("also this"), users.join("\n"))
  assert.ok(!users.some((one) => one.includes("a secret")), users.join("\n"))
  assert.equal(users.filter((one) => one.includes("CONTEXT-OF-HOOK")).length, 2, users.join("\n"))
  terminal.type("\u0004")
  await terminal.exit
})

test("Notification says that vitamin waits for a prompt, once, and not while a turn runs", async () => {
  await using tmp = await tmpdir({ git: true })
  writeHooks(tmp, everything)
  await using llm = await fakeLlm([text("First."), call("bash", { command: "sleep 0.5" }), text("Second.")])
  const { variables } = env(llm, "chat")
  const options = { env: { ...variables, NODE_OPTIONS: `--import=${shortMinute}` }, rows: 50 }
  await using terminal = await openXterm(tmp, ["--yes"], options)
  await terminal.sees(/· /)
  terminal.type("one\r")
  await until(() => told(tmp).includes("Notification idle_prompt"), "the notification")
  terminal.type("two\r")
  await terminal.sees("Second.")
  await until(
    () => told(tmp).filter((line) => line === "Notification idle_prompt").length === 2,
    "the second",
  )
  const { length } = told(tmp)
  await new Promise((resolve) => setTimeout(resolve, 500))
  assert.equal(told(tmp).length, length, "only once for each answer")
  assert.deepEqual(told(tmp).slice(-2), ["Stop Second.", "Notification idle_prompt"])
  terminal.type("\u0004")
  await terminal.exit
})

test("Notification tells that an MCP server asks something", async () => {
  await using tmp = await tmpdir({ git: true })
  writeHooks(tmp, { Notification: note })
  tmp.write(".mcp.json", mcpJson({ everything: officialServer("everything") }))
  await vitamin(tmp, ["trust", "--yes"])
  assert.equal((await vitamin(tmp, ["mcp", "test", "everything"])).code, 0)
  await using llm = await fakeLlm([call("everything_trigger-elicitation-request", {}), text("Thanks.")])
  await using terminal = openTerminal(tmp, ["run", "--allow", "mcp.call:everything/*", "go"], {
    env: env(llm, "chat").variables,
  })
  await terminal.sees(/\[a\]ccept, \[d\]ecline/)
  await until(() => told(tmp).length > 0, "the notification")
  terminal.type("d\n")
  assert.equal(await terminal.exit, 0, terminal.shown())
  assert.deepEqual(told(tmp), ["Notification elicitation_dialog"])
})
