// An orchestrator at work in the real terminal: its tasks, a rejection, and a plan that was stopped.
import assert from "node:assert/strict"
import { test } from "node:test"
import { byAgent, reject, taskIn } from "../../engine/orchestrator/harness.ts"
import { call, calls, stall, text } from "../../fixture/fake-llm.ts"
import { openXterm } from "../../fixture/xterm.ts"
import { enter, esc, isReady, openChat } from "./command/harness.ts"

test("Enter on a listed agent chooses it, and what that said does not hide that the next prompt works", async () => {
  await using chat = await openChat([stall(text("never"), 10)])
  const { terminal } = chat
  await terminal.sees(isReady)
  terminal.type("/agent orc")
  await terminal.sees("› orchestrator")
  terminal.type(enter)
  await terminal.sees("orchestrator does the work from the next prompt on")
  terminal.type(`hello${enter}`)
  await terminal.sees(/^▌ hello$/m)
  assert.doesNotMatch(terminal.screen(), /does the work from the next prompt on/)
  await terminal.sees(/working \d+ s, esc stops/)
})

test("each task has a line below its call; a rejection is shown there; auto says its choice below the prompt", async () => {
  const script = byAgent({
    orchestrator: () =>
      calls([
        call("delegate", { agent: "navigator", task: "Read greeting.txt" }, { id: "a" }),
        call("delegate", { agent: "librarian", task: "Find the port" }, { id: "b" }),
      ]),
    navigator: () => text(reject("operator")),
    operator: () => stall(text("never"), 10),
    librarian: (_, turn) => (turn ? stall(text("never"), 10) : call("grep", { pattern: "port" })),
    chronicler: () => text("Noted."),
  })
  await using chat = await openChat(script, { args: ["--agent", "orchestrator", "both, please"] })
  const { terminal, enters } = chat
  await terminal.sees(
    /● Delegate navigator: Read greeting\.txt.*\n {2}├ navigator rejected the task; it goes to operator\n {2}└ operator: thinking\n● Delegate librarian: Find the port.*\n {2}└ 1 call · Search port/,
  )
  terminal.type(esc)
  await terminal.sees("· stopped")
  await enters("/agent auto", "auto does the work")
  await enters("remember that we release on Fridays", "Noted.")
  assert.match(terminal.screen(), /▌ remember that .*\n\n· agent chronicler: it says "remember that"/)
})

test("a plan that was stopped is shown when the session is opened again", async () => {
  const plan = "1. [operator] Make a list\n2. [operator] Sort it (after 1)\n3. [operator] Check it (after 2)"
  const script = byAgent({
    orchestrator: (_, turn) =>
      turn ? call("delegate", { resume: true }) : call("delegate", { agent: "planner", task: "A list" }),
    planner: () => text(plan),
    operator: (request) => (taskIn(request).startsWith("Make") ? text("made") : stall(text("never"), 10)),
  })
  await using chat = await openChat(script, { args: ["--agent", "orchestrator", "a list, please"] })
  const { terminal, tmp, variables } = chat
  const steps = /☑ \[operator\] Make a list\n▶ \[operator\] Sort it\n☐ \[operator\] Check it/
  await terminal.sees(/● Delegate planner: A list.*\n {2}└ step 2, operator: thinking\n\n/)
  assert.match(terminal.screen(), steps)
  terminal.child.process.kill("SIGKILL")
  await terminal.exit
  await using again = await openXterm(tmp, ["--continue"], { env: variables, rows: 40 })
  await again.sees(isReady)
  await again.sees(steps)
  again.type(`go on${enter}`)
  await again.sees(/● Delegate the rest of the plan.*\n {2}└ step 2, operator: thinking/)
})
