// A form of the vault in the interactive terminal.
import assert from "node:assert/strict"
import { test } from "node:test"
import { setTimeout as sleep } from "node:timers/promises"
import { call, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { openXterm } from "../../fixture/xterm.ts"

const enter = "\r"
/** Keys right after a question appears were meant for something else. */
const pause = 1_000

test("a secret that is typed into a form is not shown, and the model does not get it", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([call("secrets_set", { name: "token" }), text("Kept.")])
  const variables = { ...env(llm, "chat").variables, VITAMIN_VAULT_PASSPHRASE: "correct horse battery" }
  const args = ["--agent", "vault", "--allow", "secret.use:token", "go"]
  await using terminal = await openXterm(tmp, args, { env: variables, rows: 30 })
  await terminal.sees(/Vitamin asks:\n {2}The value of the secret token\./)
  await sleep(pause)
  terminal.type("unseen-value-1")
  await terminal.sees(/•{14}/)
  terminal.type(enter)
  await terminal.sees("Kept.")
  assert.match(llm.requests[1]!.raw, /The secret token is stored, 14 bytes/)
  assert.ok(!llm.requests[1]!.raw.includes("unseen-value"))
  assert.ok(!terminal.screen().includes("unseen"))
})
