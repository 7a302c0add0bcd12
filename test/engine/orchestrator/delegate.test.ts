// An orchestrator delegates to specialists; one that rejects a task does not get it again.
import assert from "node:assert/strict"
import { test } from "node:test"
import { defineAgent } from "#ability/agent/define-agent.ts"
import * as Session from "#engine/session/session.ts"
import * as Trust from "#kernel/trust/trust.ts"
import { call, calls, empty, text } from "../../fixture/fake-llm.ts"
import { inWorld, resultsOf, textOf } from "../session/harness.ts"
import { byAgent, outputsOf, reject, taskIn } from "./harness.ts"

const asOrchestrator = { agent: "orchestrator" }
const task = "Read the page about apples and say what it is about"
const tasksOf = async (sessionId: string) =>
  (await Session.list({ tasks: true }))
    .filter(({ taskOf }) => taskOf?.sessionId === sessionId)
    .sort((a, b) => (a.id < b.id ? -1 : 1))

test("the orchestrator's only tool is delegate, and its prompt lists the active specialists", async () => {
  await inWorld(byAgent({ orchestrator: () => text("Hello.") }), async ({ ask, llm }) => {
    await ask("hi", asOrchestrator)
    const [request] = llm.requests
    assert.deepEqual(
      request!.tools.map(({ name }) => name),
      ["delegate"],
    )
    for (const name of ["operator", "navigator", "librarian", "planner", "chronicler"])
      assert.match(request!.system, new RegExp(`^### ${name}$`, "m"))
  })
})

test("RT-06: a specialist without tools is neither listed nor given a task", async () => {
  const script = byAgent({
    orchestrator: (_, turn) =>
      turn ? text("No.") : call("delegate", { agent: "florist", task: "Water it" }),
  })
  await inWorld(script, async ({ ask, llm, messages }) => {
    defineAgent({ id: "florist", role: "specialist", metadata: { prefixes: ["flower_"] } })
    await ask("water the flowers", asOrchestrator)
    assert.doesNotMatch(llm.requests[0]!.system, /florist/)
    assert.match(outputsOf(await messages())[0]!, /florist is not active: none of its tools is here/)
  })
})

test("RT-09, RT-10: a rejected task goes to the next specialist, and the parent gets its result", async () => {
  const script = byAgent({
    orchestrator: (_, turn) => (turn ? text("Apples.") : call("delegate", { agent: "operator", task })),
    operator: () => text(reject("navigator")),
    navigator: () => text("It is about apples."),
  })
  await inWorld(script, async ({ ask, session, messages, events }) => {
    assert.equal(textOf(await ask("What is the page about?", asOrchestrator)), "Apples.")
    const children = await tasksOf(session.id)
    assert.deepEqual(
      children.map(({ agent }) => agent),
      ["operator", "navigator"],
    )
    const [output] = outputsOf(await messages())
    assert.equal(
      output,
      `It is about apples.\n\n[navigator, session ${children[1]!.id}; rejected by operator]`,
    )
    const [rejected] = events.filter(({ type }) => type === "task.rejected")
    assert.partialDeepStrictEqual(rejected?.payload, {
      sessionId: session.id,
      taskSessionId: children[0]!.id,
      task,
      agent: "operator",
      requires: "navigator",
      next: "navigator",
    })
  })
})

test("two specialists that hand a task to each other end in a direct answer that says so", async () => {
  const given: string[] = []
  const script = byAgent({
    orchestrator: (_, turn) =>
      turn < 2
        ? call("delegate", { agent: "operator", task: turn ? ` ${task.toUpperCase()}` : task })
        : text("I cannot."),
    operator: (request) => {
      given.push(taskIn(request))
      return text(reject("navigator"))
    },
    navigator: () => text(reject("operator")),
  })
  await inWorld(script, async ({ ask, messages }) => {
    await ask("What is the page about?", asOrchestrator)
    const [first, second] = outputsOf(await messages())
    assert.match(first!, /operator and navigator hand this task to each other\. Answer the person yourself/)
    assert.match(
      second!,
      /operator has rejected this task already\. Specialists: .*librarian, planner, chronicler/,
    )
    assert.equal(given.length, 1)
  })
})

test("two specialists that hand a task to each other end it, also if a third one would fit", async () => {
  const script = byAgent({
    orchestrator: (_, turn) =>
      turn ? text("I cannot.") : call("delegate", { agent: "alpha", task: "zig zag zog" }),
    alpha: () => text(reject("beta")),
    beta: () => text(reject("alpha")),
  })
  await inWorld(script, async ({ ask, messages, events }) => {
    for (const [id, keywords] of Object.entries({
      alpha: ["zig", "zag", "zog"],
      beta: ["zig", "zag"],
      gamma: ["zig"],
    })) {
      const metadata = { keywords, alwaysInclude: true }
      defineAgent({ id, role: "specialist", systemPrompt: `You are the ${id}.`, metadata })
    }
    await ask("do it", asOrchestrator)
    assert.match(outputsOf(await messages())[0]!, /alpha and beta hand this task to each other/)
    const rejected = events.filter(({ type }) => type === "task.rejected")
    assert.deepEqual(
      rejected.map(({ payload }) => (payload as { next?: string }).next),
      ["beta", undefined],
    )
  })
})

test("specialists that all reject are asked at most four times", async () => {
  const asked: string[] = []
  const next: Record<string, string> = {
    operator: "navigator",
    navigator: "librarian",
    librarian: "planner",
    planner: "chronicler",
  }
  const rejecting = (name: string) => () => {
    asked.push(name)
    return text(reject(next[name]!))
  }
  const script = byAgent({
    orchestrator: (_, turn) => (turn ? text("No.") : call("delegate", { agent: "operator", task: "Do it" })),
    ...Object.fromEntries(Object.keys(next).map((name) => [name, rejecting(name)])),
  })
  await inWorld(script, async ({ ask, messages }) => {
    await ask("do it", asOrchestrator)
    assert.deepEqual(asked, ["operator", "navigator", "librarian", "planner"])
    assert.match(outputsOf(await messages())[0]!, /No specialist took the task/)
  })
})

for (const [what, order, says] of [
  [
    "an agent that does not exist",
    { agent: "fs_read", task: "x" },
    /"fs_read" does not exist\. Available: operator, navigator, vault, librarian, planner, chronicler\n/,
  ],
  ["itself", { agent: "orchestrator", task: "x" }, /orchestrator works for people and does no tasks/],
  ["the default agent", { agent: "build", task: "x" }, /build works for people and does no tasks/],
  ["an agent to be chosen", { agent: "auto", task: "x" }, /name the agent itself, not "auto"/],
  ["nobody", { task: "x" }, /give agent and task, or only resume/],
  ["a plan that is not there", { resume: true }, /There is no plan to carry out/],
] as const)
  test(`an order for ${what} is an error that the model reads`, async () => {
    const script = byAgent({ orchestrator: (_, turn) => (turn ? text("ok") : call("delegate", order)) })
    await inWorld(script, async ({ ask, messages }) => {
      await ask("go", asOrchestrator)
      const [result] = resultsOf(await messages())
      assert.equal(result?.status, "error")
      assert.match(outputsOf(await messages())[0]!, says)
    })
  })

test("[REJECT] in the middle of an answer, and an empty answer, are results", async () => {
  const quote = `Models write: ${reject("navigator")}`
  const script = byAgent({
    orchestrator: (_, turn) =>
      turn
        ? text("ok")
        : calls([
            call("delegate", { agent: "operator", task: "Quote it" }, { id: "a" }),
            call("delegate", { agent: "navigator", task: "Say nothing" }, { id: "b" }),
          ]),
    operator: () => text(quote),
    navigator: () => empty(),
  })
  await inWorld(script, async ({ ask, messages, events }) => {
    await ask("go", asOrchestrator)
    const [first, second] = outputsOf(await messages())
    assert.ok(first!.startsWith(quote))
    assert.match(second!, /The model gave an empty answer/)
    assert.equal(events.filter(({ type }) => type === "task.rejected").length, 0)
  })
})

test("a specialist cannot use tools of another one, and cannot delegate", async () => {
  const script = byAgent({
    orchestrator: (_, turn) =>
      turn ? text("ok") : call("delegate", { agent: "librarian", task: "Write it" }),
    librarian: (_, turn) =>
      turn === 0
        ? call("write", { path: "a.txt", content: "x" })
        : turn === 1
          ? call("delegate", { agent: "operator", task: "Write it" })
          : text("I could not."),
  })
  await inWorld(script, async ({ ask, session, llm }) => {
    await ask("go", asOrchestrator)
    const [child] = await tasksOf(session.id)
    const outputs = outputsOf(await Session.messages(child!.id))
    assert.match(outputs[0]!, /"write" is not a tool of the agent "librarian"/)
    assert.match(outputs[1]!, /"delegate" is not a tool of the agent "librarian"/)
    assert.equal(
      llm.requests[1]!.tools.some(({ name }) => name === "write"),
      false,
    )
  })
})

test("agents of files are specialists with the same fields, and take tools by a longer prefix", async () => {
  const script = byAgent({
    orchestrator: (_, turn) => (turn ? text("ok") : call("delegate", { agent: "greper", task: "Find it" })),
    greper: () => text("found"),
  })
  await inWorld(script, async ({ ask, tmp, llm }) => {
    tmp.write(
      ".vitamin/agents/greper.md",
      "---\nmetadata:\n  prefixes: [search_grep]\n  accepts: A word\n  returns: Lines\n---\nYou are the greper.\n",
    )
    await Trust.grant(tmp.path)
    await ask("find it", asOrchestrator)
    assert.match(
      llm.requests[0]!.system,
      /### greper\n- Role: greper\n- Keywords: \n- Accepts: A word\n- Returns: Lines/,
    )
    assert.deepEqual(
      llm.requests[1]!.tools.map(({ name }) => name),
      ["grep"],
    )
  })
})

test("an agent file that is not reviewed takes no tools, and gets no task or prompt by itself", async () => {
  const script = byAgent({
    orchestrator: (_, turn) =>
      turn ? text("ok") : call("delegate", { agent: "operator", task: "Write it" }),
    operator: () => text("written"),
    "?": () => text("from build"),
  })
  await inWorld(script, async ({ ask, tmp, llm }) => {
    const metadata = "{ prefixes: [fs_write, exec_bash], keywords: [deploy, fix the failing] }"
    tmp.write(".vitamin/agents/zed.md", `---\nmetadata: ${metadata}\n---\nYou are the zed.\n`)
    await ask("write it", asOrchestrator)
    assert.doesNotMatch(llm.requests[0]!.system, /zed/)
    const names = llm.requests[1]!.tools.map(({ name }) => name)
    assert.ok(names.includes("write") && names.includes("bash"), String(names))
    await ask("deploy: fix the failing deploy", { agent: "auto" })
    assert.doesNotMatch(llm.requests.at(-1)!.system, /You are the zed/)
  })
})

for (const [what, given, says] of [
  ["a rejection", { operator: () => text(reject("navigator")) }, /No specialist took the task/],
  ["a plan", { planner: () => text("1. [navigator] Read the page") }, /navigator may not get tasks/],
] as const)
  test(`${what} does not lead to an agent that a rule denies`, async () => {
    const agent = "planner" in given ? "planner" : "operator"
    const script = byAgent({
      orchestrator: (_, turn) => (turn ? text("ok") : call("delegate", { agent, task })),
      navigator: () => text("I did it."),
      ...given,
    })
    await inWorld(script, async ({ ask, session, messages }) => {
      const rules = [{ permission: "agent.delegate", pattern: "navigator", action: "deny" as const }]
      await ask("go", { ...asOrchestrator, rules })
      assert.deepEqual(
        (await tasksOf(session.id)).map((child) => child.agent),
        [agent],
      )
      assert.match(outputsOf(await messages())[0]!, says)
    })
  })

test("the choice of auto is an event with its score and reasons, and the session stays with auto", async () => {
  const script = byAgent({ chronicler: () => text("noted") })
  await inWorld(script, async ({ ask, session, events }) => {
    await ask("Remember that we release on Fridays", { agent: "auto" })
    const [chosen] = events.filter(({ type }) => type === "agent.chosen")
    const { agent, score, reasons } = chosen!.payload as { agent: string; score: number; reasons: string[] }
    assert.equal(agent, "chronicler")
    assert.ok(score > 0 && reasons.some((reason) => /remember/i.test(reason)), String(reasons))
    assert.equal((await Session.get(session.id)).agent, "auto")
  })
})
