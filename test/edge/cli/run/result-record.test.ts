// What is stored with the text of a result: the duration of the call, and its structured data.
import assert from "node:assert/strict"
import { test } from "node:test"
import type * as Message from "#knowledge/message/message.ts"
import { vitamin } from "../../../fixture/cli.ts"
import { call, calls, env, fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../../fixture/tmpdir.ts"
import { overStdio } from "../../mcp/harness.ts"

type Stored = Message.Of<"tool_result">["data"]

async function storedIn(tmp: Tmp, sessionId: string): Promise<Stored[]> {
  const { out, err } = await vitamin(tmp, ["session", "export", sessionId])
  const { messages } = JSON.parse(out || err) as { messages: Message.Info[] }
  return messages.flatMap((message) => (message.type === "tool_result" ? [message.data] : []))
}

async function sessionsOf(tmp: Tmp): Promise<string[]> {
  const { out } = await vitamin(tmp, ["session", "list", "--format", "json"])
  return (JSON.parse(out) as { id: string }[]).map(({ id }) => id)
}

test("a session stores the duration and the data of each call, also of failed ones", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([
    calls([
      call("bash", { command: "sleep 0.3; exit 3" }),
      call("bash", { command: "sleep 30", timeout: 1 }),
      call("write", { path: "a.txt", content: "one\ntwo\n" }),
    ]),
    text("done"),
  ])
  await vitamin(tmp, ["run", "--yes", "go"], env(llm, "chat").variables)
  const [ran, late, wrote] = await storedIn(tmp, (await sessionsOf(tmp))[0]!)
  assert.ok(ran!.duration >= 300, `${ran!.duration}`)
  const { duration, cwd: _, ...data } = ran!.metadata!.data as { duration: number; cwd: string }
  assert.deepEqual(data, { exitCode: 3, signal: null, timedOut: false })
  // The command's own time is within the call's.
  assert.ok(duration >= 300 && duration <= ran!.duration, `${duration} of ${ran!.duration}`)
  assert.equal(late!.status, "error")
  assert.ok(late!.duration >= 1_000, `${late!.duration}`)
  const { path, created, bytes, additions } = wrote!.metadata!.data as Record<string, unknown>
  assert.deepEqual([path, created, bytes, additions], ["a.txt", true, 8, 2])
})

test("vitamin mcp serve stores the duration and the data of its clients' calls", async () => {
  await using tmp = await tmpdir({ git: true })
  {
    await using served = await overStdio(tmp, { args: ["--allow", "bash.execute:sleep *"] })
    await served.client.callTool({ name: "bash", arguments: { command: "sleep 0.3" } })
  }
  const [ran] = await storedIn(tmp, (await sessionsOf(tmp))[0]!)
  assert.ok(ran!.duration >= 300, `${ran!.duration}`)
  assert.equal((ran!.metadata!.data as { exitCode: number }).exitCode, 0)
})
