// Commands that show something or take it out of the terminal, typed into the real terminal.
import assert from "node:assert/strict"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { commands } from "#edge/tui/command/commands.ts"
import { command } from "../../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"
import { until } from "../../../fixture/until.ts"
import { openXterm } from "../../../fixture/xterm.ts"
import { isReady, openChat } from "./harness.ts"

test("/help, /keys, /context, /cost, /plan, /compact, /doctor, /export and /copy", async () => {
  const todos = [
    { text: "look", status: "done" },
    { text: "write", status: "pending" },
  ]
  const script = [
    call("todo", { todos }),
    text("It is **done**."),
    text("Second."),
    text("Rules are written."),
  ]
  await using chat = await openChat(script, { args: ["plan it"] })
  const { tmp, llm, terminal, enters } = chat
  await terminal.sees(/It is done\..*^ask · /ms)
  await enters("/help", /\/help +list the commands\n.*\/quit .*\n@ attaches a file/s)
  await enters("/keys", /ctrl\+_, .*editor\.undo +undo/)
  await enters("/context", /openai\/fake-model: [\d.]+k? of [\d.]+k tokens.*tools +[\d.]+k? .*· free/s)
  await enters("second", /Second\..*^ask · /ms)
  await enters(
    "/cost",
    /no known price for .*model +agent .*openai\/fake-model +build +3 .*-\n[▁▂▃▄▅▆▇█]{2}\n2 prompts/s,
  )
  await enters("/plan", /\/plan\n☑ look\n☐ write/)
  await enters("/compact", "there is nothing to gain by a compaction yet")
  await enters(
    "/doctor",
    /\/doctor\nversion .*models +.* and \d+\s+more\n.*All checks of this machine: vitamin doctor/s,
  )
  await enters("/export", /written to sess_\w+\.md/)
  await enters("/export", /✗ sess_\w+\.md exists already/)
  await enters("/export all.json", "written to all.json")
  const [markdown = ""] = readdirSync(tmp.path).filter(
    (name) => name.endsWith(".md") && name.startsWith("sess_"),
  )
  assert.match(readFileSync(join(tmp.path, markdown), "utf8"), /It is \*\*done\*\*\./)
  assert.equal(JSON.parse(readFileSync(join(tmp.path, "all.json"), "utf8")).vitamin, 1)
  await enters("/copy", "copied, if your terminal allows it")
  assert.ok(terminal.bytes().includes(`\u001b]52;c;${Buffer.from("Second.").toString("base64")}\u0007`))
  await enters("/init mind the tests", "Rules are written.")
  assert.match(JSON.stringify(llm.requests.at(-1)!.body), /Write the file AGENTS\.md.*mind the tests/)
  await terminal.sees(isReady)
  terminal.type("/quit\r")
  assert.equal(await terminal.exit, 0)
})

test("/compact shows that it works and what it did, and the session goes on with the summary", async () => {
  const filler = "many words ".repeat(150)
  const summary = text("THE SUMMARY", { deltas: 4, delay: 300 })
  await using chat = await openChat(({ messages }) => {
    const asked = /^question \d$/.exec(messages.at(-1)!.text)?.[0]
    return asked ? text(`answer to ${asked}: ${filler}`) : summary
  })
  const { llm, terminal, enters } = chat
  await terminal.sees(isReady)
  for (let number = 0; number < 5; number++)
    await enters(`question ${number}`, new RegExp(`answer to question ${number}.*^ask · `, "ms"))
  await enters("/compact", /working \d+ s/)
  await terminal.sees(/· compacted: about \d+ tokens became \d+ \(with a summary by the model\)/)
  await terminal.sees(isReady)
  await enters("question 9", /answer to question 9.*^ask · /ms)
  const sent = llm.requests.at(-1)!.raw
  assert.match(sent, /THE SUMMARY[\s\S]*answer to question 4/)
  assert.doesNotMatch(sent, /answer to question 0/)
})

test("/theme is kept for the next start", async () => {
  await using chat = await openChat([])
  const { tmp, terminal, variables, enters } = chat
  await terminal.sees(isReady)
  const light = "38;2;0;120;110"
  assert.ok(!terminal.bytes().includes(light))
  await enters("/theme light", "the colours are for light terminals")
  assert.ok(terminal.bytes().includes(light))
  terminal.type("/quit\r")
  assert.equal(await terminal.exit, 0)
  await using again = await openXterm(tmp, [], { env: variables })
  await again.sees(isReady)
  assert.ok(again.bytes().includes(light))
})

test("docs/terminal.md lists every command as the table has it", () => {
  const page = readFileSync(new URL("../../../../docs/terminal.md", import.meta.url), "utf8")
  const rows = commands.map(({ name, about, argument }) => {
    const typed = `/${name}${argument ? ` ${argument}` : ""}`.replaceAll("|", "\\|")
    return `| \`${typed}\` | ${about} |`
  })
  assert.ok(page.includes(`| command | does |\n|---|---|\n${rows.join("\n")}\n`), rows.join("\n"))
})

test("/copy reaches the clipboard of the terminal that tmux runs in", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("The answer.")])
  tmp.write("tmux.conf", "set -g allow-passthrough on\nset -g set-clipboard off\n")
  const tmux = `tmux -L vitamin-copy-${process.pid} -f tmux.conf`
  const program = `${tmux} new-session "'${process.execPath}' '${command}' go"`
  await using terminal = await openXterm(tmp, [], { env: env(llm, "chat").variables, program })
  await terminal.sees(/The answer\..*^ask · /ms)
  terminal.type("/copy\r")
  await terminal.sees("copied, if your terminal allows it")
  const copied = `]52;c;${Buffer.from("The answer.").toString("base64")}\u0007`
  await until(() => terminal.bytes().includes(copied), "the sequence is passed on")
  terminal.type("\u0004")
  await terminal.exit
})
