// `vitamin attach`: what a terminal shows of a session that works already, and after the server could not replay events.
import assert from "node:assert/strict"
import { rmSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { setTimeout as sleep } from "node:timers/promises"
import type { Client } from "#client/client.ts"
import { serving } from "../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"
import { openXterm } from "../../fixture/xterm.ts"
import { clientOf } from "./client-of.ts"
import { openGate } from "./gate.ts"
import { openLine } from "./line.ts"

const enter = "\r"
const isReady = /^ask · /m
const wait = (file: string) => `until [ -e ${file} ]; do sleep 0.05; done; echo ${file} is there`
const count = (whole: string, part: string) => whole.split(part).length - 1

/** The server can no longer replay what it has published. It notices with the next event. */
async function forgetEvents(tmp: Tmp, client: Client): Promise<void> {
  rmSync(join(tmp.env.XDG_STATE_HOME!, "vitamin", "events"), { recursive: true })
  await client.createSession({})
}

test("after a gap the terminal shows once what it missed, and the questions that are open now", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([
    call("bash", { command: wait("go") }),
    call("bash", { command: "touch made" }),
    text("The second answer."),
  ])
  const server = await serving(tmp, [], env(llm, "chat").variables)
  await using _ = server.child
  const client = clientOf(tmp, server)
  await using line = await openLine(Number(new URL(server.url).port))
  await using terminal = await openXterm(tmp, ["attach", line.url])
  await terminal.sees(isReady)
  terminal.type(`one${enter}`)
  await terminal.sees("[y]es")
  terminal.type("y")
  await terminal.sees(/● Run until/)
  terminal.type(`two${enter}`)
  const [session] = await client.listSessions()
  await until(async () => (await client.listPrompts({ id: session!.id })).length === 1, "the prompt")
  await line.cut()
  await terminal.sees("the server is gone, reconnecting")
  tmp.write("go", "")
  await using other = await openXterm(tmp, ["attach", server.url, "-c"])
  await other.sees("[y]es")
  await forgetEvents(tmp, client)
  await line.restore()
  await terminal.sees(/touch made.*\[y\]es/s)
  // Keys right after a question appears were meant for something else.
  await sleep(1_000)
  terminal.type("y")
  await terminal.sees("The second answer.")
  await terminal.sees(isReady)
  await other.sees("The second answer.")
  for (const seen of [terminal, other])
    for (const part of ["▌ one", "▌ two", "✓ Run until", "\n  go is there\n", "The second answer."])
      assert.equal(count(seen.all(), part), 1, `${part}\n${seen.all()}`)
  assert.doesNotMatch(terminal.screen(), /waits:/)
})

test("a terminal that opens a session in the middle of an answer shows the whole answer once", async () => {
  await using tmp = await tmpdir({ git: true })
  const words = Array.from({ length: 40 }, (_, i) => `word${i}.`)
  const long = text(`${words.join(" ")} End.`, { deltas: 60, delay: 50 })
  await using llm = await fakeLlm([text("Hello."), long])
  const server = await serving(tmp, [], env(llm, "chat").variables)
  await using _ = server.child
  await using one = await openXterm(tmp, ["attach", server.url])
  await one.sees(isReady)
  one.type(`hello${enter}`)
  await one.sees("Hello.")
  await one.sees(isReady)
  await using early = await openXterm(tmp, ["attach", server.url])
  await early.sees(isReady)
  early.type(`/sessions${enter}`)
  await early.sees("> hello")
  one.type(`go${enter}`)
  // The answer is stored a second after it has begun.
  await one.sees("word1.")
  early.type(enter)
  await using late = await openXterm(tmp, ["attach", server.url, "-c"])
  for (const terminal of [one, early, late]) {
    await terminal.sees("End.")
    await terminal.sees(isReady)
    const answer = terminal.all().slice(terminal.all().indexOf("word0.")).replace(/\s+/g, " ")
    assert.ok(answer.startsWith(`${words.join(" ")} End. >`), terminal.all())
    for (const part of ["▌ go", "word0.", "End."])
      assert.equal(count(terminal.all(), part), 1, terminal.all())
  }
})

test("a terminal that opens a session shows the questions of tasks that already run, and not their messages", async () => {
  await using tmp = await tmpdir({ git: true })
  const allowed = [{ permission: "agent.delegate", pattern: "*", action: "allow" }]
  await using llm = await fakeLlm(({ messages }) => {
    const task = messages[0]!.text
    if (messages.length > 1) return text(`The ${task} is done.`)
    const next = { outer: "middle", middle: "inner" }[task]
    return next ? call("subtask", { task: next }) : call("write", { path: "made.txt", content: "x" })
  })
  const variables = {
    ...env(llm, "chat").variables,
    VITAMIN_CONFIG: JSON.stringify({ permission: allowed }),
  }
  const server = await serving(tmp, [], variables)
  await using _ = server.child
  await using one = await openXterm(tmp, ["attach", server.url])
  await one.sees(isReady)
  one.type(`outer${enter}`)
  await one.sees("made.txt")
  await using two = await openXterm(tmp, ["attach", server.url, "-c"])
  await two.sees(/made\.txt.*\[y\]es/s)
  two.type("y")
  for (const terminal of [one, two]) {
    await terminal.sees("The outer is done.")
    await terminal.sees(isReady)
    assert.doesNotMatch(terminal.all(), /^The (inner|middle) is done/m)
    assert.doesNotMatch(terminal.all(), /▌ (inner|middle)/)
  }
})

test("a turn that ended inside a gap leaves the session as it is stored", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("bash", { command: wait("go") }), text("The answer.")])
  const server = await serving(tmp, [], env(llm, "chat").variables)
  await using _ = server.child
  const client = clientOf(tmp, server)
  await using line = await openLine(Number(new URL(server.url).port))
  await using terminal = await openXterm(tmp, ["attach", line.url, "--allow", "bash.execute:*"])
  await terminal.sees(isReady)
  terminal.type(`one${enter}`)
  await terminal.sees(/● Run until/)
  await line.cut()
  await terminal.sees("the server is gone, reconnecting")
  const [session] = await client.listSessions()
  tmp.write("go", "")
  await until(async () => (await client.getSession({ id: session!.id })).status === "idle", "the end")
  await client.setMode({ id: session!.id, mode: "plan" })
  await forgetEvents(tmp, client)
  await line.restore()
  await terminal.sees("The answer.")
  await terminal.sees(/^plan · /m)
})

test("a prompt that began inside a gap, before its answer came, does not wait any more", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("The first answer."), text("The second answer.")])
  const server = await serving(tmp, [], env(llm, "chat").variables)
  await using _ = server.child
  const client = clientOf(tmp, server)
  await using gate = await openGate(server.url)
  await using terminal = await openXterm(tmp, ["attach", gate.url])
  await terminal.sees(isReady)
  terminal.type(`one${enter}`)
  await terminal.sees("The first answer.")
  await terminal.sees(isReady)
  gate.hold("answer", /\/message$/)
  gate.cutEvents()
  await terminal.sees("the server is gone, reconnecting")
  terminal.type(`two${enter}`)
  await until(() => gate.held.length === 1, "the answer to the prompt")
  const [session] = await client.listSessions()
  const isOver = async () =>
    llm.requests.length === 2 && (await client.getSession({ id: session!.id })).status === "idle"
  await until(isOver, "the end of the turn")
  await forgetEvents(tmp, client)
  gate.restoreEvents()
  await terminal.sees("The second answer.")
  gate.release()
  await terminal.misses(/waits: two/)
  await terminal.sees(isReady)
})

test("a prompt waits for the stream of events, and two prompts that are typed at once keep their order", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("The first answer."), text("The second answer.")])
  const server = await serving(tmp, [], env(llm, "chat").variables)
  await using _ = server.child
  await using gate = await openGate(server.url)
  gate.hold("request", /^\/event/)
  await using terminal = await openXterm(tmp, ["attach", gate.url])
  await until(() => gate.held.length > 0, "the stream is asked for")
  await terminal.sees(isReady)
  terminal.type(`one${enter}`)
  await terminal.sees("one")
  terminal.type(`two${enter}`)
  // Time in which prompts that do not wait would be answered.
  await Promise.race([until(() => llm.requests.length > 0, "a request"), sleep(2_000)])
  gate.release()
  await terminal.sees("The second answer.")
  const shown = terminal.all()
  for (const part of ["▌ one", "▌ two", "The second answer."]) assert.equal(count(shown, part), 1, shown)
  assert.ok(shown.indexOf("▌ one") < shown.indexOf("▌ two"), shown)
})

test("an answer that came before the stream of events could be opened is shown when it is open", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("The early answer.")])
  const server = await serving(tmp, [], env(llm, "chat").variables)
  await using _ = server.child
  const client = clientOf(tmp, server)
  await using gate = await openGate(server.url)
  gate.cutEvents()
  await using terminal = await openXterm(tmp, ["attach", gate.url])
  await terminal.sees("the server is gone, reconnecting")
  terminal.type(`one${enter}`)
  await until(async () => (await client.listSessions())[0]?.usage.output, "the end of the turn")
  gate.restoreEvents()
  await terminal.sees("The early answer.")
  await terminal.sees(isReady)
  assert.equal(count(terminal.all(), "The early answer."), 1, terminal.all())
})
