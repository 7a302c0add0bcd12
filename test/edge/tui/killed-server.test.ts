// `vitamin attach` to a server that was killed and started again: its questions and waiting prompts are gone.
import assert from "node:assert/strict"
import { once } from "node:events"
import { rmSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { test } from "node:test"
import type { Client } from "#client/client.ts"
import { serving, startVitamin } from "../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"
import { openXterm } from "../../fixture/xterm.ts"
import { clientOf } from "./client-of.ts"

const enter = "\r"

async function restart(tmp: Tmp, url: string, variables: Record<string, string>) {
  const child = startVitamin(tmp, ["serve", "--port", new URL(url).port], variables)
  await child.line(/listening/)
  return child
}

/** A prompt waits, and the server has answered so. */
async function isStored(client: Client): Promise<void> {
  const [session] = await client.listSessions()
  await until(async () => (await client.listPrompts({ id: session!.id })).length === 1, "the prompt")
  await client.getSession({ id: session!.id })
}

/** Answers nothing; resolves when a terminal has tried to connect `tries` times. */
async function refuse(url: string, tries: number): Promise<void> {
  let count = 0
  const server = createServer((socket) => {
    count++
    socket.destroy()
  })
  server.listen(Number(new URL(url).port), "127.0.0.1")
  await until(() => count >= tries, `${tries} tries`)
  server.close()
  await once(server, "close")
}

test("the question of a server that was killed leaves the terminal when the server is back", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("bash", { command: "touch made" }), text("Here again.")])
  const { variables } = env(llm, "chat")
  const first = await serving(tmp, [], variables)
  await using _ = first.child
  await using terminal = await openXterm(tmp, ["attach", first.url])
  await terminal.sees(/^ask · /m)
  terminal.type(`go${enter}`)
  await terminal.sees("[y]es")
  first.child.process.kill("SIGKILL")
  await using second = await restart(tmp, first.url, variables)
  await terminal.misses(/\[y\]es/)
  await terminal.sees(/^ask · /m)
  terminal.type(`still there?${enter}`)
  await terminal.sees("Here again.")
  assert.equal(second.process.exitCode, null)
})

test("--plain: a line goes to the agent after the server of the open question was killed, and the loss is told once", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("bash", { command: "touch made" }), text("Here again.")])
  const { variables } = env(llm, "chat")
  const first = await serving(tmp, [], variables)
  await using _ = first.child
  await using terminal = await openXterm(tmp, ["attach", first.url, "--plain"], { rows: 60 })
  await terminal.sees(/^> ?$/m)
  terminal.type(`go${enter}`)
  await terminal.sees("Type a number")
  first.child.process.kill("SIGKILL")
  await first.child.exit
  await refuse(first.url, 3)
  await using second = await restart(tmp, first.url, variables)
  await terminal.sees(/Connected again\..*^> ?$/ms)
  terminal.type(`still there?${enter}`)
  await terminal.sees("Here again.")
  assert.equal(terminal.all().split("The server is gone.").length, 2, terminal.all())
  assert.equal(second.process.exitCode, null)
})

test("a prompt that a killed server did not run does not wait any more", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("bash", { command: "sleep 600" })])
  const { variables } = env(llm, "chat")
  const first = await serving(tmp, [], variables)
  await using _ = first.child
  await using terminal = await openXterm(tmp, ["attach", first.url, "--yes"])
  await terminal.sees(/^yes to all · /m)
  terminal.type(`one${enter}`)
  await terminal.sees("● Run sleep 600")
  terminal.type(`two${enter}`)
  await terminal.sees("waits: two")
  await isStored(clientOf(tmp, first))
  first.child.process.kill("SIGKILL")
  await using second = await restart(tmp, first.url, variables)
  await terminal.sees("not run: two")
  await terminal.misses(/waits: two/)
  assert.equal(second.process.exitCode, null)
})

test("a prompt that a killed server did not run returns to the editor if its events are lost too", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("bash", { command: "sleep 600" })])
  const { variables } = env(llm, "chat")
  const first = await serving(tmp, [], variables)
  await using _ = first.child
  await using terminal = await openXterm(tmp, ["attach", first.url, "--yes"])
  await terminal.sees(/^yes to all · /m)
  terminal.type(`one${enter}`)
  await terminal.sees("● Run sleep 600")
  terminal.type(`two${enter}`)
  await terminal.sees("waits: two")
  await isStored(clientOf(tmp, first))
  first.child.process.kill("SIGKILL")
  await first.child.exit
  rmSync(join(tmp.env.XDG_STATE_HOME!, "vitamin", "events"), { recursive: true })
  await using second = await restart(tmp, first.url, variables)
  await terminal.sees(/^> two$/m)
  assert.doesNotMatch(terminal.all(), /cannot be reached/)
  await terminal.misses(/waits: two/)
  assert.equal(second.process.exitCode, null)
})
