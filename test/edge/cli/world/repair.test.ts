// A scripted model repairs a component until its story passes in a real Chromium, held back by the guard until then.
import assert from "node:assert/strict"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import type { StoryResult } from "#ability/world/story-result.ts"
import { vitamin } from "../../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"

const agent = `---
description: Builds user interface components
tools: [read, edit, write, world_run]
---
You build components.
`
const broken = `export function Greeting(args: { name: string }): string {
  return "<h1>Hello</h1>"
}
`
const stories = `import { Greeting } from "./greeting.ts"
export const named = { intent: "Greets by name", component: Greeting, args: { name: "Ada" }, parameters: { timeout: 30_000 },
  play: ({ findByText }) => findByText("Hello Ada") }
`
const edit = (oldText: string, newText: string) =>
  call("edit", { path: "greeting.ts", edits: [{ oldText, newText }] })

test("vitamin run: a component is repaired until its story passes, and only then the answer is allowed", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write(".vitamin/agents/interface.md", agent)
  tmp.write("greeting.ts", broken)
  tmp.write("greeting.stories.ts", stories)
  await using llm = await fakeLlm([
    call("read", { path: "greeting.ts" }),
    edit('Hello</h1>"', 'Hello " + args + "</h1>"'),
    text("Done, I think."),
    call("world_run", { stories: ["greeting.ts"] }),
    text("It fails, but never mind."),
    edit("+ args +", "+ args.name +"),
    call("world_run", { stories: ["greeting.ts"] }),
    text("The story passes."),
  ])
  const variables = {
    ...env(llm, "chat").variables,
    VITAMIN_CONFIG: JSON.stringify({ guards: { "stories-before-answer": {} } }),
  }
  const args = ["--trust", "run", "--yes", "--agent", "interface", "--format", "json", "greet by name"]
  const { code, out, err } = await vitamin(tmp, args, variables)
  assert.equal(code, 0, err)
  assert.match(readFileSync(join(tmp.path, "greeting.ts"), "utf8"), /"<h1>Hello " \+ args\.name \+ "<\/h1>"/)
  assert.equal(llm.requests.length, 8)
  const sent = llm.requests.map(({ raw }) => raw)
  for (const at of [3, 5])
    assert.match(sent[at]!, /Your answer is held back\..*its stories have not passed since/)
  assert.match(sent[4]!, /FAILED {2}greeting\.stories\.ts › named: Greets by name/)
  assert.match(sent[4]!, /No element with the text Hello Ada within 2 s/)
  assert.match(sent[4]!, /It shows:\\n {4}- heading/)
  assert.match(sent[7]!, /1 story: 1 passed, 0 failed/)
  const events = out
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string; payload: { story: StoryResult } })
  const finished = events.filter(({ type }) => type === "story.finished").map(({ payload }) => payload.story)
  assert.deepEqual(
    finished.map(({ name, status }) => [name, status]),
    [
      ["named", "failed"],
      ["named", "passed"],
    ],
  )
  for (const { screenshot } of finished) assert.ok(existsSync(screenshot!), screenshot)
  assert.match(finished[1]!.snapshot!, /heading "Hello Ada"/)
})

test("world_run is denied where nobody can be asked, and refused in a folder that is not trusted", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write(".vitamin/agents/interface.md", agent)
  tmp.write("greeting.ts", broken)
  tmp.write("greeting.stories.ts", stories)
  const running = async (...flags: string[]) => {
    await using llm = await fakeLlm([call("world_run", {}), text("So be it.")])
    const args = ["run", ...flags, "--agent", "interface", "go"]
    const { code } = await vitamin(tmp, args, env(llm, "chat").variables)
    return { code, sent: llm.requests.at(-1)!.raw }
  }
  const denied = await running()
  assert.equal(denied.code, 3)
  const untrusted = await running("--yes")
  assert.match(untrusted.sent, /the folder is not trusted; .{1,3}vitamin trust/)
})
