// createWorldAgent() as an embedding program uses it: the program of docs/world.md in a process of its own, with a scripted
// model and a real Chromium.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import type { Trajectory } from "#edge/world/create-world-agent.ts"
import { run } from "../../fixture/child.ts"
import { vitamin } from "../../fixture/cli.ts"
import { call, env, type FakeLlm, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { noServers } from "../../fixture/no-servers.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"

const guide = readFileSync(new URL("../../../docs/world.md", import.meta.url), "utf8")
const [component, stories] = Array.from(guide.matchAll(/```ts\n([\s\S]*?)```/g), ([, code]) => code!)
const library = JSON.stringify(new URL("../../../dist/index.js", import.meta.url).href)
const program = /```js\n([\s\S]*?)```/.exec(guide)![1]!.replace('"@vitamin-agent/vitamin"', library)

async function runProgram(tmp: Tmp, llm: FakeLlm, code: string) {
  tmp.write("src/counter.ts", component!)
  tmp.write("src/counter.stories.ts", stories!)
  tmp.write("program.mjs", code)
  await using child = run(process.execPath, ["program.mjs"], {
    cwd: tmp.path,
    env: { ...tmp.env, ...noServers, ...env(llm, "chat").variables },
  })
  return { code: await child.exit, lines: child.lines, err: child.errors() }
}

function trajectories(tmp: Tmp): Trajectory[] {
  const lines = readFileSync(join(tmp.path, "trajectories.jsonl"), "utf8").trim().split("\n")
  return lines.map((line) => JSON.parse(line) as Trajectory)
}

test("createWorldAgent() repairs a component, is held back until its stories pass, and writes the trajectory", async () => {
  await using tmp = await tmpdir({ git: true })
  assert.equal((await vitamin(tmp, ["trust", "--yes"])).code, 0)
  await using llm = await fakeLlm([
    call("world_run", {}),
    call("read", { path: "src/counter.ts" }),
    call("edit", { path: "src/counter.ts", edits: [{ oldText: "+= 1", newText: "+= this.step" }] }),
    text("Repaired, I hope."),
    call("world_run", { stories: ["src/counter.ts"] }),
    text("Both stories pass."),
  ])
  const { code, lines, err } = await runProgram(tmp, llm, program)
  assert.equal(code, 0, err)
  assert.equal(lines[0], "Both stories pass.")
  assert.match(llm.requests[4]!.raw, /Your answer is held back/)
  assert.match(llm.requests[0]!.raw, /You build user interface components/)
  const [only, ...others] = trajectories(tmp)
  assert.equal(others.length, 0)
  assert.equal(only!.ended, "answered")
  assert.deepEqual(only!.reward, { story: 1, accessibility: 1, assertions: 1, total: 1 })
  assert.deepEqual(only!.stories.map(({ name, status }) => `${name} ${status}`).sort(), [
    "empty passed",
    "steps passed",
  ])
  const calls = only!.messages.flatMap((message) =>
    message.type === "tool_request" ? message.data.calls : [],
  )
  assert.deepEqual(
    calls.map(({ name }) => name),
    ["world_run", "read", "edit", "world_run"],
  )
})

test("createWorldAgent() writes the reward of stories that fail, and of a prompt that is left", async () => {
  await using tmp = await tmpdir({ git: true })
  assert.equal((await vitamin(tmp, ["trust", "--yes"])).code, 0)
  await using llm = await fakeLlm([call("world_run", {}), text("The step is ignored."), text("Late.")])
  const code = `import { createWorldAgent } from ${library}
    const agent = await createWorldAgent({ directory: process.cwd(), asks: "once", trajectories: "trajectories.jsonl" })
    const first = agent.process({ text: "What fails?" })
    try { first.trajectory() } catch ({ name }) { console.log(name) }
    for await (const { type, payload } of first) if (type === "story.finished") console.log(payload.story.name)
    for await (const event of agent.process({ text: "And now?" })) break
    await agent.stop()`
  const { code: exit, lines, err } = await runProgram(tmp, llm, code)
  assert.equal(exit, 0, err)
  assert.deepEqual([lines[0], ...lines.slice(1).sort()], ["World.NotEnded", "empty", "steps"])
  const [failed, left] = trajectories(tmp)
  // One of two stories passes, both are accessible. `empty` asserts once, and that holds; the assertion of `steps` does not.
  assert.deepEqual(failed!.reward, { story: 0.5, accessibility: 1, assertions: 0.5, total: 0.65 })
  assert.equal(left!.ended, "interrupted")
  assert.deepEqual(left!.reward, { story: 0, accessibility: 0, assertions: 0, total: 0 })
})

test("createWorldAgent() refuses a folder that is not trusted", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([])
  const { code, err } = await runProgram(tmp, llm, program)
  assert.equal(code, 1)
  assert.match(err, /the folder is not trusted; "vitamin trust" trusts it/)
})
