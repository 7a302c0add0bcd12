// The memory of a stored session in another process: the built command creates the session, and a program that embeds
// the built library reads it.
import assert from "node:assert/strict"
import { execFile } from "node:child_process"
import { test } from "node:test"
import { promisify } from "node:util"
import { vitamin } from "../../fixture/cli.ts"
import { call, calls, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { noServers } from "../../fixture/no-servers.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"

const library = new URL("../../../dist/index.js", import.meta.url).href

/** Runs a script that can use Memory and Session of the library and `id`, the newest session. Returns its result. */
async function inNewProcess<T>(tmp: Tmp, script: string): Promise<T> {
  const program = `import { bootstrap, Memory, Session } from ${JSON.stringify(library)}
await bootstrap(process.cwd(), async () => {
  const [{ id }] = await Session.list()
  const result = await (async () => { ${script} })()
  console.log(JSON.stringify(result))
})`
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program], {
    cwd: tmp.path,
    env: { ...tmp.env, ...noServers },
  })
  return JSON.parse(stdout)
}

test("Memory.shortTerm() of a stored session has all its messages, the window, and the number of tokens", async () => {
  await using tmp = await tmpdir()
  const counting = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, i) => call("bash", { command: `echo result ${from + i}` }))
  const summary = text("A summary of what was done.")
  await using llm = await fakeLlm([
    ...counting(0, 11),
    text("Half of it."),
    ...counting(11, 23),
    text("All of it."),
    summary,
  ])
  const { variables } = env(llm, "chat")
  for (const args of [["count to 10"], ["--continue", "go on to 22"]]) {
    const { code, err } = await vitamin(tmp, ["run", "--yes", ...args], variables)
    assert.equal(code, 0, err)
  }
  const facts = `
    const memory = await Memory.shortTerm(id)
    const messages = memory.messages()
    return {
      count: messages.length,
      sameAsStored: JSON.stringify(messages) === JSON.stringify(await Session.messages(id)),
      outputs: messages.filter(({ type }) => type === "tool_result").map(({ data }) => data.output.trim()),
      sent: memory.window().length,
      tokens: memory.tokenCount(),
      isOver: [memory.shouldSummarize({ limit: 100_000 }), memory.shouldSummarize({ limit: 50 })],
    }`
  type Facts = {
    count: number
    sameAsStored: boolean
    outputs: string[]
    sent: number
    tokens: number
    isOver: boolean[]
  }
  const { outputs, tokens, ...rest } = await inNewProcess<Facts>(tmp, facts)
  assert.deepEqual(rest, { count: 50, sameAsStored: true, sent: 50, isOver: [false, true] })
  assert.deepEqual(
    outputs,
    Array.from({ length: 23 }, (_, i) => `result ${i}`),
  )
  assert.ok(tokens > 50)
  const compacted = await vitamin(tmp, ["session", "compact"], variables)
  assert.equal(compacted.code, 0, compacted.err)
  const after = await inNewProcess<Facts>(tmp, facts)
  assert.ok(after.count > 50, `${after.count} messages after: ${compacted.out} ${compacted.err}`)
  assert.ok(after.sent < 50, `${after.sent} messages would be sent after the compaction`)
})

test("Memory.working() of a stored session has the plan, files, commands, recent results and the last answer", async () => {
  await using tmp = await tmpdir()
  tmp.write("a.txt", "first line\n")
  await using llm = await fakeLlm([
    call("todo", {
      todos: [
        { text: "look", status: "done" },
        { text: "write", status: "in_progress" },
      ],
    }),
    calls([call("read", { path: "a.txt" }), call("bash", { command: "ls missing" })]),
    call("write", { path: "b.txt", content: "b\n" }),
    text("I wrote b.txt."),
    text("It says b."),
  ])
  const { variables } = env(llm, "chat")
  for (const args of [["write b.txt"], ["--continue", "what does it say?"]]) {
    const { code, err } = await vitamin(tmp, ["run", "--yes", ...args], variables)
    assert.equal(code, 0, err)
  }
  type State = {
    goal: string
    request: string
    said: string
    todos: { text: string; status: string }[]
    files: { path: string; read: number; changed: number }[]
    commands: { command: string; outcome: string }[]
    results: { tool: string; status: string; text: string }[]
  }
  const state = await inNewProcess<State>(tmp, "return (await Memory.working(id)).state()")
  const { goal, request, said, todos, files, commands, results } = state
  assert.deepEqual([goal, request, said], ["write b.txt", "what does it say?", "It says b."])
  assert.deepEqual(
    todos.map((todo) => `${todo.status} ${todo.text}`),
    ["done look", "in_progress write"],
  )
  assert.deepEqual(
    files.map(({ path, read, changed }) => [path, read, changed]),
    [
      ["a.txt", 1, 0],
      ["b.txt", 0, 1],
    ],
  )
  assert.deepEqual(commands, [{ command: "ls missing", outcome: "exit code 2" }])
  assert.deepEqual(
    results.map(({ tool, status }) => `${tool} ${status}`),
    ["todo success", "read success", "bash success", "write success"],
  )
  assert.match(results[1]!.text, /first line/)
})

test("Memory of an unknown session throws", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([text("Yes.")])
  await vitamin(tmp, ["run", "hello"], env(llm, "chat").variables)
  const names = await inNewProcess(
    tmp,
    `const nameOf = (error) => error.name
     return [await Memory.shortTerm("sess_none").catch(nameOf), await Memory.working("sess_none").catch(nameOf)]`,
  )
  assert.deepEqual(names, ["Session.NotFound", "Session.NotFound"])
})
