// The events of a real run, as the command prints them, become the transcript of that run.
import assert from "node:assert/strict"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { test } from "node:test"
import type { StreamEvent } from "#client/client.ts"
import { createTranscript } from "#edge/tui/transcript/transcript.ts"
import { vitamin } from "../../../fixture/cli.ts"
import { call, calls, env, fakeLlm, reasoning, text } from "../../../fixture/fake-llm.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"
import { plain } from "./conversation.ts"

test("a run with reasoning, parallel calls, an edit, a command, a plan and a task", async () => {
  await using tmp = await tmpdir({ git: true })
  await writeFile(join(tmp.path, "a.ts"), "export const port = 3141\n")
  await using llm = await fakeLlm([
    reasoning("let me look", calls([call("read", { path: "a.ts" }), call("glob", { pattern: "*.ts" })])),
    call("todo", { todos: [{ text: "change the port", status: "in_progress" }] }),
    call("edit", { path: "a.ts", edits: [{ oldText: "3141", newText: "4000" }] }),
    call("bash", { command: "seq 1 20" }),
    call("subtask", { task: "check it" }),
    call("read", { path: "a.ts" }),
    text("It is **4000**."),
    text("# Done\n\nThe port is `4000`."),
  ])
  const { variables, model } = env(llm, "chat")
  const ran = await vitamin(
    tmp,
    ["run", "--format", "json", "--model", model, "--allow", "*:**", "change the port"],
    variables,
  )
  assert.equal(ran.code, 0, ran.err)
  const events: StreamEvent[] = ran.out.split("\n").map((line) => JSON.parse(line))
  const transcript = createTranscript(() => ({ columns: 80, rows: 24, paint: plain, expandKey: "ctrl+o" }))
  const printed: string[] = []
  for (const event of events) {
    transcript.apply(event)
    transcript.tail(20)
    printed.push(...transcript.take())
  }
  assert.deepEqual(transcript.tail(20), [])
  assert.deepEqual(printed, [
    "▌ change the port",
    "",
    "∴ thought (ctrl+o)",
    "✓ Read a.ts:1-1",
    "✓ Find files *.ts (1)",
    "✓ Plan 0 of 1 done",
    "✓ Edit a.ts (+1 -1)",
    "  1 - export const port = 3141",
    "  1 + export const port = 4000",
    "✓ Run seq 1 20",
    "  1",
    "  2",
    "  … 15 more lines (ctrl+o)",
    "  18",
    "  19",
    "  20",
    "✓ Task check it  1 call",
    "  It is **4000**.",
    "",
    "Done",
    "",
    "The port is 4000.",
    "",
    "▶ change the port",
  ])
})
