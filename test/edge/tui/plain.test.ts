// `--plain` for screen readers: lines are printed once, nothing is drawn again, and questions are numbered lines.
import assert from "node:assert/strict"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { setTimeout as sleep } from "node:timers/promises"
import { mcpJson, officialServer } from "../../ability/mcp/servers.ts"
import { vitamin } from "../../fixture/cli.ts"
import { call, calls, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { openXterm } from "../../fixture/xterm.ts"

const enter = "\r"

test("--plain answers prompts and asks with numbered lines, without any escape sequence", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write("a.txt", "hello\n")
  await using llm = await fakeLlm([
    call("edit", { path: "a.txt", edits: [{ oldText: "hello", newText: "goodbye" }] }),
    call("bash", { command: "touch made" }),
    call("bash", { command: "touch second" }),
    text("# Title\n\nIt is **done** \u001b[2Jnow.", { deltas: 20 }),
    text("The second answer."),
  ])
  const { variables } = env(llm, "chat")
  await using terminal = await openXterm(tmp, ["--plain"], {
    env: variables,
    before: "stty -g > before",
    after: "stty -g > after",
  })
  await terminal.sees(/^> ?$/m)
  terminal.type(`go${enter}`)
  await terminal.sees(/Question:\nEdit a\.txt\?\n.*- hello.*\+ goodbye.*^1\. Yes\..*Type a number/ms)
  terminal.type(`1${enter}`)
  await terminal.sees(
    /Question:\nRun this command\?\n +touch made\n1\. Yes\.\n2\. Always: exactly the command touch made \(bash\.execute:touch made\)/,
  )
  terminal.type(`not that one${enter}`)
  await terminal.sees(/Run this command\?\n +touch second/)
  terminal.type(`1${enter}`)
  await terminal.sees(/It is done .*now\.\n+> ?$/m)
  assert.match(JSON.stringify(llm.requests[2]!.body), /the person rejected it and says: not that one/)
  assert.deepEqual([existsSync(join(tmp.path, "made")), existsSync(join(tmp.path, "second"))], [false, true])
  terminal.type(`more${enter}`)
  await terminal.sees(/The second answer\.\n+> ?$/m)
  terminal.type("\u0004")
  assert.equal(await terminal.exit, 0)
  assert.doesNotMatch(terminal.bytes(), /\u001b|\u0007/)
  assert.equal(terminal.all().split("The second answer.").length, 2)
  assert.match(terminal.all(), /Go on with: vitamin --plain --session sess_/)
})

test("--plain says how many questions wait, and the rule of always can be changed", async () => {
  await using tmp = await tmpdir({ git: true })
  const run = (command: string) => call("bash", { command })
  const all = calls([run("mkdir made"), run("touch one"), run("touch two")])
  await using llm = await fakeLlm([all, text("Done.")])
  await using terminal = await openXterm(tmp, ["--plain", "go"], {
    env: env(llm, "chat").variables,
    rows: 60,
  })
  await terminal.sees(/ mkdir made\n.*Type a number/s)
  terminal.type(`1${enter}`)
  await terminal.sees(
    /Run this command\? {2}1 more question waits\n +touch one\n.*^3\. Always, with another rule\.$/ms,
  )
  const rule = /^Rule: bash\.execute:touch one\nType another one\. An empty line keeps it, 0 goes back\.\n/m
  terminal.type(`3${enter}`)
  await terminal.sees(rule)
  terminal.type(`bash.execute:rm *${enter}`)
  await terminal.sees(/rm \*\n.*\n1\. Yes\.\n/)
  terminal.type(`3${enter}`)
  await terminal.sees(new RegExp(`${rule.source}.*${rule.source}`, "ms"))
  terminal.type(`bash.execute:touch *${enter}`)
  await terminal.sees("Done.")
  const exists = ["made", "one", "two"].map((name) => existsSync(join(tmp.path, name)))
  assert.deepEqual(exists, [true, true, true])
  assert.match((await vitamin(tmp, ["permission", "list"])).out, /touch \*/)
})

test("--plain asks for the fields of a form one by one, and says what is wrong", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write(".mcp.json", mcpJson({ everything: officialServer("everything") }))
  await vitamin(tmp, ["trust", "--yes"])
  assert.equal((await vitamin(tmp, ["mcp", "test", "everything"])).code, 0)
  const form = call("everything_trigger-elicitation-request", {})
  await using llm = await fakeLlm([form, form, text("Thanks.")])
  await using terminal = await openXterm(tmp, ["--plain", "--allow", "mcp.call:everything/*", "go"], {
    env: env(llm, "chat").variables,
    rows: 60,
  })
  await terminal.sees(/The MCP server everything asks: .*\n1\. Fill in the form\.\n2\. Decline\./s)
  terminal.type(`1${enter}`)
  await terminal.sees(/^name \(required\)/m)
  terminal.type(enter)
  await terminal.sees("name: it is required")
  terminal.type(`Ada${enter}`)
  await terminal.sees(/^check/m)
  terminal.type(`yes${enter}`)
  await terminal.sees(/^firstLine/m)
  // The rest keeps what the server proposes, or stays empty.
  for (let presses = 0; presses < 20 && !/2\. Decline.*2\. Decline/s.test(terminal.all()); presses++) {
    terminal.type(enter)
    await sleep(100)
  }
  terminal.type(`2${enter}`)
  await terminal.sees("Thanks.")
  const last = JSON.stringify(llm.requests[2]!.body)
  assert.match(last, /Ada/)
  assert.match(last, /declined/)
})

test("a terminal that cannot move the cursor gets plain lines, and Ctrl-C stops the turn, then the program", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("bash", { command: "sleep 600" }), text("Here again.")])
  await using terminal = await openXterm(tmp, ["--yes", "wait"], {
    env: { ...env(llm, "chat").variables, TERM: "dumb", COLORTERM: "" },
  })
  await terminal.sees("▌ wait")
  while (llm.requests.length < 1) await new Promise((resolve) => setTimeout(resolve, 20))
  await new Promise((resolve) => setTimeout(resolve, 500))
  terminal.type("\u0003")
  await terminal.sees(/^> ?$/m)
  terminal.type(`still there?${enter}`)
  await terminal.sees("Here again.")
  await terminal.sees(/Here again\.\n+> ?$/m)
  terminal.type("\u0003")
  assert.equal(await terminal.exit, 130)
  assert.doesNotMatch(terminal.bytes(), /\u001b/)
})
