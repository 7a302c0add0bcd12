// `vitamin attach` to a server that was killed and started again: its questions and waiting prompts are gone.
import assert from "node:assert/strict"
import { once } from "node:events"
import { rmSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { test } from "node:test"
import type { Client } from "#client/client.ts"
import { serving, startVitamin } from "../../fixture/cli.ts"
import { call, env, fakeLlm, type Reply, text } from "../../fixture/fake-llm.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"
import { openXterm } from "../../fixture/xterm.ts"
import { clientOf } from "./client-of.ts"

const enter = "\r"

/** A terminal that is attached to a server. `restart` starts the server again after it was killed. */
async function attached(script: Reply[], { args = [], rows }: { args?: string[]; rows?: number } = {}) {
  const tmp = await tmpdir({ git: true })
  const llm = await fakeLlm(script)
  const { variables } = env(llm, "chat")
  const server = await serving(tmp, [], variables)
  const terminal = await openXterm(tmp, ["attach", server.url, ...args], rows ? { rows } : {})
  let again: ReturnType<typeof startVitamin> | undefined
  return {
    tmp,
    server,
    terminal,
    kill: () => server.child.process.kill("SIGKILL"),
    async restart() {
      again = startVitamin(tmp, ["serve", "--port", new URL(server.url).port], variables)
      await again.line(/listening/)
    },
    isServing: () => again?.process.exitCode === null,
    async [Symbol.asyncDispose]() {
      await terminal[Symbol.asyncDispose]()
      await again?.[Symbol.asyncDispose]()
      await server.child[Symbol.asyncDispose]()
      await llm[Symbol.asyncDispose]()
      await tmp[Symbol.asyncDispose]()
    },
  }
}

/** One command runs, and a second prompt waits. */
async function attachedWaiting() {
  const chat = await attached([call("bash", { command: "sleep 600" })], { args: ["--yes"] })
  const { terminal } = chat
  await terminal.sees(/^yes to all · /m)
  terminal.type(`one${enter}`)
  await terminal.sees("● Run sleep 600")
  terminal.type(`two${enter}`)
  await terminal.sees("waits: two")
  await isStored(clientOf(chat.tmp, chat.server))
  return chat
}

const asking = [call("bash", { command: "touch made" }), text("Here again.")]

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
  await using chat = await attached(asking)
  const { terminal } = chat
  await terminal.sees(/^ask · /m)
  terminal.type(`go${enter}`)
  await terminal.sees("[y]es")
  chat.kill()
  await chat.restart()
  await terminal.misses(/\[y\]es/)
  await terminal.sees(/^ask · /m)
  terminal.type(`still there?${enter}`)
  await terminal.sees("Here again.")
  assert.ok(chat.isServing())
})

test("--plain: a line goes to the agent after the server of the open question was killed, and the loss is told once", async () => {
  await using chat = await attached(asking, { args: ["--plain"], rows: 60 })
  const { terminal, server } = chat
  await terminal.sees(/^> ?$/m)
  terminal.type(`go${enter}`)
  await terminal.sees("Type a number")
  chat.kill()
  await server.child.exit
  await refuse(server.url, 3)
  await chat.restart()
  await terminal.sees(/Connected again\..*^> ?$/ms)
  terminal.type(`still there?${enter}`)
  await terminal.sees("Here again.")
  assert.equal(terminal.all().split("The server is gone.").length, 2, terminal.all())
  assert.ok(chat.isServing())
})

test("a prompt that a killed server did not run does not wait any more", async () => {
  await using chat = await attachedWaiting()
  const { terminal } = chat
  chat.kill()
  await chat.restart()
  await terminal.sees("not run: two")
  await terminal.misses(/waits: two/)
  assert.ok(chat.isServing())
})

test("a prompt that a killed server did not run returns to the editor if its events are lost too", async () => {
  await using chat = await attachedWaiting()
  const { terminal, tmp, server } = chat
  chat.kill()
  await server.child.exit
  rmSync(join(tmp.env.XDG_STATE_HOME!, "vitamin", "events"), { recursive: true })
  await chat.restart()
  await terminal.sees(/^> two$/m)
  assert.doesNotMatch(terminal.all(), /cannot be reached/)
  await terminal.misses(/waits: two/)
  assert.ok(chat.isServing())
})
