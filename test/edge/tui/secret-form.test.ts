// A form of the vault in the interactive terminal.
import assert from "node:assert/strict"
import { test } from "node:test"
import { setTimeout as sleep } from "node:timers/promises"
import { serving } from "../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { openXterm } from "../../fixture/xterm.ts"
import { clientOf } from "./client-of.ts"

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

test("--plain reads a secret as it is typed, without showing it", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([call("secrets_set", { name: "token" }), text("Kept.")])
  const variables = { ...env(llm, "chat").variables, VITAMIN_VAULT_PASSPHRASE: "correct horse battery" }
  const args = ["--plain", "--agent", "vault", "--allow", "secret.use:token", "go"]
  await using terminal = await openXterm(tmp, args, { env: variables })
  await terminal.sees("1. Fill in the form.")
  terminal.type(`1${enter}`)
  await terminal.sees("Nothing of it is shown.")
  // Ctrl-C leaves the field.
  terminal.type("\u0003")
  await terminal.sees(/it is required\n1\. Fill in the form\.\n2\. Decline\./)
  terminal.type(`1${enter}`)
  await terminal.sees(/shown\..*shown\./s)
  terminal.type(` unseen value ${enter}`)
  await terminal.sees("Kept.")
  assert.match(llm.requests[1]!.raw, /The secret token is stored, 14 bytes/)
  assert.ok(!terminal.bytes().includes("unseen"))
})

test("the rest of a password does not go into a prompt when another client answers the form", async () => {
  for (const mode of [[], ["--plain"]]) {
    await using tmp = await tmpdir()
    await using llm = await fakeLlm([call("secrets_set", { name: "token" }), text("Left."), text("Heard.")])
    const variables = { ...env(llm, "chat").variables, VITAMIN_VAULT_PASSPHRASE: "correct horse battery" }
    const server = await serving(tmp, [], variables)
    await using _ = server.child
    const client = clientOf(tmp, server)
    const args = ["attach", server.url, ...mode, "--agent", "vault", "--allow", "secret.use:token"]
    await using terminal = await openXterm(tmp, args)
    await terminal.sees(/^[>›] ?/m)
    terminal.type(`go${enter}`)
    if (mode.length) {
      await terminal.sees("1. Fill in the form.")
      terminal.type(`1${enter}`)
      await terminal.sees("Nothing of it is shown.")
      terminal.type("half")
    } else {
      await terminal.sees(/The value of the secret token\./)
      await sleep(pause)
      terminal.type("half")
      await terminal.sees("••••")
    }
    const [form] = await client.listElicitations()
    await client.replyElicitation({ id: form!.id, action: "decline" })
    await terminal.sees(/typed is thrown\s+away/)
    await sleep(pause)
    terminal.type("-and-rest")
    terminal.type(enter)
    await terminal.sees(mode.length ? /Left\.\n+> ?$/m : "Left.")
    terminal.type("typed in the open")
    await terminal.sees("typed in the open")
    terminal.type(enter)
    await terminal.sees("Heard.")
    assert.match(llm.requests[2]!.raw, /"typed in the open"/)
    for (const { raw } of llm.requests) assert.ok(!raw.includes("-and-rest"))
    assert.ok(!terminal.bytes().includes("-and-rest"))
  }
})
