// A planner's plan is carried out step by step, in parallel where steps do not wait for each other, also after a restart.
import assert from "node:assert/strict"
import { test } from "node:test"
import * as TodoList from "#ability/plan/todo-list.ts"
import { planSteps } from "#engine/orchestrator/plan-steps.ts"
import * as Session from "#engine/session/session.ts"
import { call, calls, type Request, status, text } from "../../fixture/fake-llm.ts"
import { inWorld } from "../session/harness.ts"
import { byAgent, outputsOf, taskIn } from "./harness.ts"

const asOrchestrator = { agent: "orchestrator" }
const plan = [
  "1. [operator] Make the folder",
  "2. [operator] Write the first half (after 1)",
  "3. [librarian] Find the second half (after 1)",
  "4. [operator] Join both (after 2, 3)",
].join("\n")

const orchestrating = (_: Request, turn: number) =>
  turn ? text("Done.") : call("delegate", { agent: "planner", task: "Write the report" })

test("the steps of a plan run in order, two at once, each with the results that it waits for", async () => {
  const begun: string[] = []
  let [atOnce, most] = [0, 0]
  const working = (request: Request) => {
    begun.push(taskIn(request).split("\n", 1)[0]!)
    most = Math.max(most, ++atOnce)
    setTimeout(() => atOnce--, 150)
    return text(`did: ${taskIn(request).split("\n", 1)[0]}`, { deltas: 2, delay: 100 })
  }
  const script = byAgent({
    orchestrator: orchestrating,
    planner: () => text(plan),
    operator: working,
    librarian: working,
  })
  await inWorld(script, async ({ ask, session, messages, llm }) => {
    await ask("write a report", asOrchestrator)
    assert.equal(begun[0], "Make the folder")
    assert.deepEqual(begun.slice(1, 3).sort(), ["Find the second half", "Write the first half"])
    assert.deepEqual(begun.slice(3), ["Join both"])
    assert.equal(most, 2)
    const last = taskIn(llm.requests.at(-2)!)
    for (const words of [
      "This is one step of: Write the report",
      "did: Write the first half",
      "did: Find the second half",
    ])
      assert.ok(last.includes(words), words)
    const [output] = outputsOf(await messages())
    assert.match(output!, /## Step 4: done\nJoin both\n\ndid: Join both/)
    const { title, todos } = await TodoList.plan(session.id)
    assert.equal(title, "Write the report")
    assert.deepEqual(
      todos.map(({ status, text }) => [status, text]),
      [
        ["done", "[operator] Make the folder"],
        ["done", "[operator] Write the first half"],
        ["done", "[librarian] Find the second half"],
        ["done", "[operator] Join both"],
      ],
    )
    assert.match(
      llm.requests[1]!.system,
      /Agents that can carry out steps:\n- operator: [\s\S]*- librarian: /,
      "the planner is told who can carry out steps",
    )
    assert.deepEqual(llm.requests[1]!.tools, [], "the planner has no tools")
  })
})

test("a failed step stops only the steps that wait for it; resume tries the rest again", async () => {
  let isBroken = true
  const script = byAgent({
    orchestrator: (_, turn) =>
      [call("delegate", { agent: "planner", task: "Write the report" }), call("delegate", { resume: true })][
        turn
      ] ?? text("Done."),
    planner: () => text(plan),
    operator: (request) => text(`did: ${taskIn(request).split("\n", 1)[0]}`),
    librarian: () => (isBroken ? status(400, { message: "no library today" }) : text("found")),
  })
  await inWorld(script, async ({ ask, llm, messages }) => {
    const asked = ask("write a report", asOrchestrator)
    const fix = setInterval(() => {
      if (llm.requests.filter(({ system }) => /You are the orchestrator/.test(system)).length > 1)
        isBroken = false
    }, 1)
    await asked
    clearInterval(fix)
    const [first, second] = outputsOf(await messages())
    assert.match(first!, /## Step 3: failed\nFind the second half\n\n.*no library today/s)
    assert.match(first!, /## Step 4: not begun\nJoin both\nIt waits for 2, 3\./)
    assert.match(first!, /`delegate` with `resume` tries the unfinished steps again/)
    assert.match(second!, /## Step 4: done\nJoin both\n\ndid: Join both/)
    const made = llm.requests.filter((request) => taskIn(request).startsWith("Make the folder"))
    assert.equal(made.length, 1, "a step that is done is not done again")
  })
})

test("a plan survives a compaction, and the rest of it gets the results from before", async () => {
  let isBroken = true
  const given: string[] = []
  const script = byAgent({
    orchestrator: (_, turn) =>
      turn === 0
        ? call("delegate", { agent: "planner", task: "Write the report" })
        : turn === 8
          ? call("delegate", { resume: true })
          : text(`answer ${"of some words ".repeat(60)}`),
    planner: () => text(plan),
    operator: (request) => {
      given.push(taskIn(request))
      return text(`did: ${taskIn(request).split("\n", 1)[0]}`)
    },
    librarian: () => (isBroken ? status(400, { message: "no library today" }) : text("found")),
    "?": () => text("SUMMARY"),
  })
  await inWorld(script, async ({ ask, session, llm, events }) => {
    await ask("write a report", asOrchestrator)
    for (let i = 0; i < 6; i++) await ask(`wish ${i}`)
    await Session.compact(session.id)
    assert.ok(events.some(({ type }) => type === "session.compacted"))
    isBroken = false
    const before = llm.requests.length
    await ask("go on")
    assert.match(llm.requests[before]!.messages[0]!.text, /\[ \] 3: \[librarian\] Find the second half/)
    assert.ok((await TodoList.plan(session.id)).todos.every((todo) => todo.status === "done"))
    assert.equal(given.length, 3, "steps that are done are not done again")
    assert.match(given.at(-1)!, /^Join both[\s\S]*did: Write the first half[\s\S]*found/)
  })
})

for (const [what, line] of [
  ["a bold number", (id, rest) => `**${id}.** ${rest}`],
  ["a bold line", (id, rest) => `**${id}. ${rest}**`],
  ["a bold word", (id, rest) => `**Step ${id}:** ${rest}`],
  ["a bracket", (id, rest) => `${id}) ${rest}`],
  ["items of a list", (id, rest) => `- ${id}. ${rest}`],
  ["bold items of a list", (id, rest) => `* **${id}.** ${rest.replace(/\(after .*/, "*$&*")}`],
  ["boxes", (id, rest) => `- [ ] ${id}. ${rest}`],
  ["headings", (id, rest) => `### ${id}. ${rest}\n`],
  ["headings with a dash", (id, rest) => `## Step ${id} — ${rest}\n`],
  ["headings above the task", (id, rest) => `### Step ${id}: ${rest.replace("] ", "]\n\n")}\n`],
] as const satisfies [string, (id: string, rest: string) => string][])
  test(`a plan with ${what} is carried out step by step`, async () => {
    const written = plan.replace(/^(\d)\. (.*)$/gm, (_, id: string, rest: string) => line(id, rest))
    const begun: string[] = []
    const working = (name: string) => (request: Request) => {
      begun.push(`${name}: ${taskIn(request).split("\n", 1)[0]}`)
      return text("did it")
    }
    const script = byAgent({
      orchestrator: orchestrating,
      planner: () => text(`Here is the plan:\n\n${written}`),
      operator: working("operator"),
      librarian: working("librarian"),
    })
    await inWorld(script, async ({ ask, session }) => {
      await ask("write a report", asOrchestrator)
      assert.deepEqual(
        [begun[0], begun.slice(1, 3).sort(), begun.slice(3)],
        [
          "operator: Make the folder",
          ["librarian: Find the second half", "operator: Write the first half"],
          ["operator: Join both"],
        ],
      )
      const { todos } = await TodoList.plan(session.id)
      assert.deepEqual(
        todos.map(({ status, after = [] }) => [status, after]),
        [
          ["done", []],
          ["done", ["1"]],
          ["done", ["1"]],
          ["done", ["2", "3"]],
        ],
      )
    })
  })

for (const [what, written, expected] of [
  [
    "marks and other words",
    "Here is the plan:\n\n10 - 20 files:\n**1** of them\n- 2) **[Vault]**: Sign it\nStep 3: Send it (after 2)",
    [
      { id: "2", agent: "vault", text: "Sign it", after: [] },
      { id: "3", text: "Send it", after: ["2"] },
    ],
  ],
  [
    "references to itself and to steps that are not there",
    "1. a (after 1, 9)\n2. b (after 1)",
    [
      { id: "1", text: "a", after: [] },
      { id: "2", text: "b", after: ["1"] },
    ],
  ],
  [
    "details below a step",
    "1. [operator] Write a.txt:\n   - in UTF-8\n   1. with a title\n   2. and a date\n\n   Keep it short.\n2. [vault] Sign it (after 1)\nwith the release key.\n\nThat is all.",
    [
      {
        id: "1",
        agent: "operator",
        text: "Write a.txt: - in UTF-8 1. with a title 2. and a date Keep it short.",
        after: [],
      },
      { id: "2", agent: "vault", text: "Sign it with the release key.", after: ["1"] },
    ],
  ],
  [
    "headings, paragraphs and notes",
    "## Plan\n\n### 1. [operator] Write it\n\nOne page.\n\n### 2. [vault] Sign it\n\nAs the last one. (after 1)\n\n### Notes\n\n1. Nobody waits.\n2. Keep calm.",
    [
      { id: "1", agent: "operator", text: "Write it One page.", after: [] },
      { id: "2", agent: "vault", text: "Sign it As the last one.", after: ["1"] },
    ],
  ],
  [
    "a fence around it",
    "```\n1. [operator] Write it\n```",
    [{ id: "1", agent: "operator", text: "Write it", after: [] }],
  ],
  ["no steps", "I cannot plan this.", []],
] as const)
  test(`planSteps() reads a plan with ${what}`, () => {
    assert.deepEqual(planSteps(written), expected)
  })

test("an answer of the planner without steps is returned as it is, and changes no plan", async () => {
  const script = byAgent({ orchestrator: orchestrating, planner: () => text("There is nothing to do.") })
  await inWorld(script, async ({ ask, session, messages }) => {
    await ask("write a report", asOrchestrator)
    assert.match(outputsOf(await messages())[0]!, /^There is nothing to do\./)
    assert.deepEqual((await TodoList.plan(session.id)).todos, [])
  })
})

for (const [what, planned, says] of [
  [
    "two steps with one number",
    text("## First\n1. [operator] Make it\n## Then\n1. [operator] Paint it"),
    /The plan has two steps with the number 1\. Ask for another plan/,
  ],
  [
    "a step that is too long",
    text(`1. [operator] ${"All of this matters. ".repeat(100)}`),
    /Step 1 has 2099 characters, and at most 1900 fit/,
  ],
  [
    "a missing end",
    text("1. [operator] Make it\n2. [operator] Do not pai", { finish: "content-filter" }),
    /The plan was held back by the provider's content filter/,
  ],
] as const)
  test(`a plan with ${what} is refused, and none of it is done`, async () => {
    const script = byAgent({ orchestrator: orchestrating, planner: () => planned })
    await inWorld(script, async ({ ask, session, messages }) => {
      await ask("make it", asOrchestrator)
      assert.match(outputsOf(await messages())[0]!, says)
      assert.deepEqual((await TodoList.plan(session.id)).todos, [])
    })
  })

for (const [what, count, says, given] of [
  [
    "a plan with too many steps is refused as a whole",
    21,
    /The plan has 21 steps, and at most 20 are carried out\. Ask for another plan/,
    0,
  ],
  ["a long step is not cut", 1, /^## Step 1: done/, 1],
] as const)
  test(what, async () => {
    const words = "All of this matters. ".repeat(40)
    const steps = Array.from({ length: count }, (_, i) => `${i + 1}. [operator] ${words}The end ${i + 1}`)
    const script = byAgent({
      orchestrator: orchestrating,
      planner: () => text(steps.join("\n")),
      operator: () => text("done"),
    })
    await inWorld(script, async ({ ask, messages, llm }) => {
      await ask("write a report", asOrchestrator)
      assert.match(outputsOf(await messages())[0]!, says)
      assert.equal(llm.requests.filter((request) => /The end 1$/m.test(taskIn(request))).length, given)
    })
  })

test("steps that wait for each other are an error that the model reads", async () => {
  const script = byAgent({
    orchestrator: orchestrating,
    planner: () => text("1. a (after 2)\n2. b (after 1)"),
  })
  await inWorld(script, async ({ ask, messages }) => {
    await ask("write a report", asOrchestrator)
    assert.match(outputsOf(await messages())[0]!, /Items wait for each other/)
  })
})

test("two plans in one answer: the second is refused, and the first is carried out", async () => {
  const script = byAgent({
    orchestrator: (_, turn) =>
      turn
        ? text("ok")
        : calls([
            call("delegate", { agent: "planner", task: "First" }, { id: "a" }),
            call("delegate", { agent: "planner", task: "Second" }, { id: "b" }),
          ]),
    planner: () => text("1. [operator] Do it"),
    operator: () => text("did it"),
  })
  await inWorld(script, async ({ ask, session, messages }) => {
    await ask("go", asOrchestrator)
    const [first, second] = outputsOf(await messages())
    assert.match(first!, /## Step 1: done/)
    assert.match(second!, /Another call carries out a plan/)
    assert.equal((await TodoList.plan(session.id)).title, "First")
  })
})
