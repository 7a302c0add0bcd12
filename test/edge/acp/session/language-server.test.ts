// Language servers see files as the editor has them, not as they are on disk.
import assert from "node:assert/strict"
import { test } from "node:test"
import { program } from "../../../ability/lsp/odd-project.ts"
import { vitamin } from "../../../fixture/cli.ts"
import { call, fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"
import { choose, withSession } from "../harness.ts"
import { createDesk } from "../open-files.ts"

for (const isSaving of [true, false])
  test(`a language server gets the editor's unsaved text, with an editor that ${isSaving ? "saves" : "does not save"}`, async () => {
    await using tmp = await tmpdir({ git: true })
    const odd = { command: [process.execPath, program, "plain"], extensions: { ".odd": "odd" } }
    tmp.write(".vitamin/config.jsonc", JSON.stringify({ lsp: { wait: 30_000, servers: { odd } } }))
    tmp.write(
      ".vitamin/agents/checker.md",
      "---\ndescription: checks\ntools: [edit, diagnostics]\n---\nCheck.\n",
    )
    const path = tmp.write("a.odd", "saved\n")
    const other = tmp.write("b.odd", "saved\n")
    await vitamin(tmp, ["trust", "--yes"])
    await using llm = await fakeLlm([
      call("diagnostics", { path: "a.odd" }),
      call("edit", { path: "a.odd", edits: [{ oldText: "good", newText: "BADLY" }] }),
      call("diagnostics", { path: "b.odd" }),
      text("Done."),
    ])
    const desk = createDesk({ isSaving })
    desk.buffers.set(path, "BAD, not saved\ngood\n")
    desk.buffers.set(other, "fine\nBAD, not saved either\n")
    await using acp = await withSession(tmp, {
      ...{ llm, desk, permit: choose("allow_once") },
      capabilities: { fs: { readTextFile: true, writeTextFile: true } },
      args: ["--agent", "checker"],
    })
    await acp.prompt("check it")
    const results = llm.requests.at(-1)!.messages.flatMap((message) => message.results.map((one) => one.text))
    assert.deepEqual(results, [
      "a.odd:1:1 error: BAD is bad",
      `a.odd edited (+1 -1).${isSaving ? "" : " [the editor has not saved it like this: the file on disk differs]"}\nNew diagnostics:\na.odd:2:1 warning: BADLY is bad`,
      "b.odd:2:1 error: BAD is bad",
    ])
  })
