// Hooks of a prompt in the sandbox run inside it, the person's own too. Those of the person that cannot run there block.
import assert from "node:assert/strict"
import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { whyNot } from "../../ability/sandbox/world.ts"
import { vitamin } from "../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { resultsIn } from "./harness.ts"

const skip = whyNot("user") || false
const one = (command: string, matcher: string) => [{ matcher, hooks: [{ type: "command", command }] }]

test("hooks of the person and of the project judge calls inside the sandbox", { skip }, async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([
    call("bash", { command: "touch a" }),
    call("write", { path: "b", content: "x" }),
    call("ls"),
    text("Done."),
  ])
  const folder = join(tmp.env.XDG_CONFIG_HOME!, "vitamin")
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, "check.sh"), "exit 0\n")
  const own = {
    PreToolUse: [
      ...one("echo no shell in $(cat /proc/1/comm) >&2; exit 2", "Bash"),
      ...one(`bash ${folder}/check.sh`, "LS"),
    ],
  }
  writeFileSync(join(folder, "hooks.json"), JSON.stringify({ hooks: own }))
  tmp.write(
    ".vitamin/hooks.json",
    JSON.stringify({
      hooks: { PreToolUse: one("echo no writing in $(cat /proc/1/comm) >&2; exit 2", "Write") },
    }),
  )
  const { code, err } = await vitamin(
    tmp,
    ["run", "--sandbox", "--yes", "--trust", "go"],
    env(llm, "chat").variables,
  )
  assert.equal(code, 0, err)
  assert.match(err, /\(PreToolUse\) blocked bash: no shell in bwrap/)
  assert.match(err, /\(PreToolUse\) blocked write: no writing in bwrap/)
  const results = resultsIn(llm)
  assert.match(
    results[2]!,
    /"ls" was not run\. The hook "check\.sh" blocks it: it failed: it ended with exit code 127/,
  )
  assert.ok(!existsSync(join(tmp.path, "a")) && !existsSync(join(tmp.path, "b")))
})
