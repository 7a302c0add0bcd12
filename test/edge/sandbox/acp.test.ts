// `vitamin acp --sandbox`: prompts of an editor run inside, and its questions go to the editor.
import assert from "node:assert/strict"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { call, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { choose, withSession } from "../acp/harness.ts"
import { resultsIn } from "./harness.ts"

test("a prompt of an editor runs inside, and the editor is asked what leaves the sandbox", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([
    call("bash", { command: "cat /proc/1/comm; touch inside.txt" }),
    call("fetch", { url: "http://192.0.2.1/page" }),
    text("Done."),
  ])
  const asked: string[] = []
  await using editor = await withSession(tmp, {
    llm,
    args: ["--sandbox"],
    permit(request) {
      asked.push(request.toolCall.title ?? "")
      return choose("reject_once")(request)
    },
  })
  const { stopReason } = await editor.prompt("go")
  assert.equal(stopReason, "end_turn")
  const [command, page] = resultsIn(llm)
  assert.match(command!, /^bwrap/)
  assert.match(page!, /the person rejected it/)
  assert.equal(asked.length, 1)
  assert.ok(existsSync(join(tmp.path, "inside.txt")))
})
