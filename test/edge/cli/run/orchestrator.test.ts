// `vitamin run` with an orchestrator and with the agent auto, as processes.
import assert from "node:assert/strict"
import { test } from "node:test"
import { byAgent, reject, taskIn } from "../../../engine/orchestrator/harness.ts"
import { startVitamin, vitamin } from "../../../fixture/cli.ts"
import { call, env, fakeLlm, type Request, stall, text } from "../../../fixture/fake-llm.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"
import { until } from "../../../fixture/until.ts"

test("one specialist rejects a task and the next one does it", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm(
    byAgent({
      orchestrator: (_, turn) =>
        turn ? text("It says hello.") : call("delegate", { agent: "navigator", task: "Read greeting.txt" }),
      navigator: () => text(reject("operator")),
      operator: (_, turn) => (turn ? text("It says: hello") : call("read", { path: "greeting.txt" })),
    }),
  )
  tmp.write("greeting.txt", "hello\n")
  const { variables } = env(llm, "chat")
  const ran = await vitamin(tmp, ["run", "--agent", "orchestrator", "What does greeting.txt say?"], variables)
  assert.deepEqual([ran.code, ran.out], [0, "It says hello."], ran.err)
  assert.match(ran.err, /navigator rejected the task; it goes to operator/)
  const [last] = llm.requests.at(-1)!.messages.at(-1)!.results
  assert.match(last!.text, /^It says: hello\n\n\[operator, session sess_\w+; rejected by navigator\]$/)
  const id = /sess_\w+/.exec((await vitamin(tmp, ["session", "list"])).out)![0]
  const { out } = await vitamin(tmp, ["session", "show", id])
  for (const line of ["orchestrator: 200 tokens in, 20 out", "navigator: 100", "operator: 200"])
    assert.ok(out.includes(`  ${line}`), `${line} in ${out}`)
})

test("a request to explain a file goes to the librarian, which reads it and has no tool that changes or runs one", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm(
    byAgent({
      librarian: (_, turn) => (turn ? text("It copies the site.") : call("read", { path: "deploy.sh" })),
    }),
  )
  tmp.write("deploy.sh", "rsync -a site/ web:/srv/site\n")
  const { variables } = env(llm, "chat")
  const ran = await vitamin(
    tmp,
    ["run", "--agent", "auto", "without running it, what does deploy.sh do"],
    variables,
  )
  assert.deepEqual([ran.code, ran.out], [0, "It copies the site."], ran.err)
  assert.match(ran.err, /agent librarian: /)
  const [read] = llm.requests.at(-1)!.messages.at(-1)!.results
  assert.match(read!.text, /rsync -a site\/ web:\/srv\/site/)
  const offered = llm.requests[0]!.tools.map(({ name }) => name)
  assert.ok(offered.includes("read") && offered.includes("grep"), String(offered))
  for (const other of ["bash", "edit", "write", "ls"]) assert.ok(!offered.includes(other), other)
})

test("RT-16, RT-17: every tool that agents get unnamed has a specialist; the orchestrator is told of a tool that none has", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm(
    byAgent({
      orchestrator: (_, turn) =>
        turn % 2 ? text("ok") : call("delegate", { agent: "operator", task: "Say the weather" }),
      operator: (_, turn) => (turn === 1 ? call("weather", {}) : text("I cannot.")),
    }),
  )
  const { variables } = env(llm, "chat")
  const ask = () => vitamin(tmp, ["run", "--trust", "--agent", "orchestrator", "The weather?"], variables)
  assert.equal((await ask()).code, 0)
  assert.doesNotMatch(llm.requests[0]!.system, /Unmatched Tools/)
  tmp.write(
    ".vitamin/config.ts",
    `import { defineConfig, Tool, z } from "@vitamin-agent/vitamin"
Tool.define("weather", () => ({
  description: "Say the weather.", parameters: z.object({}), readOnly: true, execute: async () => ({ text: "sunny" }),
}))
export default defineConfig({})
`,
  )
  assert.equal((await ask()).code, 0)
  const [leading, working, after] = llm.requests.slice(3)
  assert.match(leading!.system, /## Unmatched Tools\nNo specialist has these: weather\./)
  assert.ok(!working!.tools.some(({ name }) => name === "weather"))
  assert.match(after!.messages.at(-1)!.results[0]!.text, /"weather" is not a tool of the agent "operator"/)
})

const plan = [
  "1. [operator] Make a list",
  "2. [operator] Sort the list (after 1)",
  "3. [librarian] Find the first name (after 2)",
  "4. [librarian] Find the last name (after 2)",
  "5. [operator] Write both names (after 3, 4)",
  "6. [operator] Check the names (after 5)",
].join("\n")
const steps = plan.split("\n").map((line) => /\] (.*?)(?: \(after|$)/.exec(line)![1]!)

test("a plan of six steps whose process is killed in the middle is completed after a restart", async () => {
  await using tmp = await tmpdir({ git: true })
  const done: string[] = []
  let isHanging = true
  const working = (request: Request) => {
    const step = taskIn(request).split("\n", 1)[0]!
    // The two steps that run at once never end before the kill.
    if (isHanging && /name$/.test(step)) return stall(text("never"), 10)
    done.push(step)
    return text(`did: ${step}`)
  }
  await using llm = await fakeLlm(
    byAgent({
      orchestrator: (_, turn) =>
        [call("delegate", { agent: "planner", task: "Names" }), call("delegate", { resume: true })][turn] ??
        text("All done."),
      planner: () => text(plan),
      operator: working,
      librarian: working,
    }),
  )
  const { variables } = env(llm, "chat")
  {
    await using first = startVitamin(tmp, ["run", "--agent", "orchestrator", "Names, please"], variables)
    const searching = () => llm.requests.filter((request) => /^Find the .* name\n/.test(taskIn(request)))
    await until(() => searching().length === 2)
    first.process.kill("SIGKILL")
    await first.exit
  }
  assert.deepEqual(done, steps.slice(0, 2))
  const id = /sess_\w+/.exec((await vitamin(tmp, ["session", "list"])).out)![0]
  assert.match((await vitamin(tmp, ["session", "plan", id])).out, /Sort the list/)
  isHanging = false
  const { code, out, err } = await vitamin(tmp, ["run", "--continue", "Go on"], variables)
  assert.deepEqual([code, out], [0, "All done."], err)
  const checked = steps.map((step) =>
    err.split("\n").filter((line) => line.startsWith("  [x] ") && line.endsWith(step)),
  )
  assert.deepEqual(
    checked.map(({ length }) => length),
    steps.map(() => 1),
    "each step is checked off once",
  )
  assert.match(err, /^↳ operator: Write both names$/m)
  assert.deepEqual(done.slice().sort(), steps.slice().sort(), "each step once")
  const [result] = llm.requests.at(-1)!.messages.at(-1)!.results
  for (const [i, step] of steps.entries())
    assert.ok(result!.text.includes(`## Step ${i + 1}: done\n${step}\n\ndid: ${step}`), result!.text)
  const both = llm.requests.find((request) => taskIn(request).startsWith("Write both names"))!
  assert.match(taskIn(both), /Result of step 3:\ndid: Find the first name[\s\S]*Result of step 4:/)
})

for (const agent of ["planner", "auto"])
  test(`a plan that a person asks the ${agent} for is kept, and an orchestrator carries it out`, async () => {
    await using tmp = await tmpdir({ git: true })
    await using llm = await fakeLlm(
      byAgent({
        planner: () => text(plan),
        orchestrator: (_, turn) => (turn ? text("All done.") : call("delegate", { resume: true })),
        operator: () => text("did it"),
        librarian: () => text("found it"),
      }),
    )
    const { variables } = env(llm, "chat")
    const goal = "Break down the migration into steps"
    const planned = await vitamin(tmp, ["run", "--agent", agent, goal], variables)
    assert.deepEqual([planned.code, planned.out], [0, plan], planned.err)
    assert.match(llm.requests[0]!.system, /Agents that can carry out steps:\n- operator: /)
    assert.match((await vitamin(tmp, ["session", "plan"])).out, /^Break down .* 0 of 6 done/)
    const ran = await vitamin(tmp, ["run", "--continue", "--agent", "orchestrator", "Go on"], variables)
    assert.deepEqual([ran.code, ran.out], [0, "All done."], ran.err)
    assert.match((await vitamin(tmp, ["session", "plan"])).out, /6 of 6 done/)
  })

test("a plan that cannot be kept is reported, and the answer is still given", async () => {
  await using tmp = await tmpdir({ git: true })
  const answer = "1. [operator] Make it\n1. [operator] Paint it"
  await using llm = await fakeLlm([text(answer)])
  const ran = await vitamin(tmp, ["run", "--agent", "planner", "Plan it"], env(llm, "chat").variables)
  assert.deepEqual([ran.code, ran.out], [0, answer])
  assert.match(ran.err, /the plan is not kept: The plan has two steps with the number 1/)
})

test("--agent auto chooses an agent for each prompt, and says why", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("one"), text("two")])
  const { variables } = env(llm, "chat")
  const first = await vitamin(tmp, ["run", "--agent", "auto", "Remember what we decided earlier"], variables)
  assert.equal(first.code, 0, first.err)
  assert.match(first.err, /^vitamin: agent chronicler: it says "remember/im)
  assert.doesNotMatch(first.err, /\(\+/, "scores are for `agent route`")
  assert.match(llm.requests[0]!.system, /You are the chronicler/)
  const second = await vitamin(tmp, ["run", "--continue", "How are you?"], variables)
  assert.match(second.err, /vitamin: agent build: no agent fits/, "the next prompt is routed again")
  assert.doesNotMatch(llm.requests[1]!.system, /You are the/)
})

for (const [what, answer, next] of [
  ["that it names", reject("librarian"), "You are the librarian"],
  ["that is the default, if it names none", "[REJECT] This is not mine.", undefined],
] as const)
  test(`a prompt that the chosen specialist rejects goes to the agent ${what}`, async () => {
    await using tmp = await tmpdir({ git: true })
    await using llm = await fakeLlm([text(answer), text("On Tuesdays."), text("Yes.")])
    const { variables } = env(llm, "chat")
    const ran = await vitamin(tmp, ["run", "--agent", "auto", "Remember what we decided earlier"], variables)
    assert.deepEqual([ran.code, ran.out], [0, "On Tuesdays."], ran.err)
    assert.ok(ran.err.includes(answer), ran.err)
    assert.match(
      ran.err,
      next ? /^vitamin: agent librarian: chronicler rej/m : /^vitamin: agent build: chron/m,
    )
    const [first, second] = llm.requests
    assert.match(first!.system, /You are the chronicler/)
    if (next) assert.ok(second!.system.includes(next))
    else assert.doesNotMatch(second!.system, /You are the/)
    const names = second!.tools.map(({ name }) => name)
    assert.deepEqual([names.includes("grep"), names.includes("memory_save")], [true, false])
    assert.notEqual(second!.messages.at(-1)!.role, "assistant")
    const again = await vitamin(tmp, ["run", "--continue", "Remember that"], variables)
    assert.match(llm.requests[2]!.system, /You are the chronicler/, again.err)
  })
