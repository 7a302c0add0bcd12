// A client opens, prompts and closes sessions at random and in parallel: every request is answered, and nothing is left.
import assert from "node:assert/strict"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { setTimeout as sleep } from "node:timers/promises"
import { type McpServer, RequestError } from "@agentclientprotocol/sdk"
import { running, uniqueNap } from "../../ability/shell/running.ts"
import { everythingFile } from "../../fixture/mcp/servers.ts"
import { createRandom } from "../../fixture/random.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"
import { choose, connected, on } from "./harness.ts"

const steps = 150
const outcomes = ["allow_once", "allow_always", "reject_once"]

for (const seed of [1, 2, 3])
  test(`sessions opened, prompted, cancelled, closed and deleted in any order (${seed})`, async () => {
    await using tmp = await tmpdir({ git: true })
    const random = createRandom(seed)
    const pick = <T>(list: readonly T[]): T => list[random(list.length)]!
    const word = uniqueNap()
    const folders = [tmp.path, join(tmp.path, "sub")]
    mkdirSync(folders[1]!)
    const args = [everythingFile, "stdio", word]
    const server: McpServer = { name: "everything", command: process.execPath, args, env: [] }
    await using acp = await connected(tmp, {
      permit: (request) =>
        random(4) ? choose(pick(outcomes))(request) : { outcome: { outcome: "cancelled" as const } },
    })
    const { agent } = acp
    const sessions: { sessionId: string; cwd: string }[] = []
    const answers: Promise<unknown>[] = []
    const create = async () => {
      const cwd = pick(folders)
      const mcpServers = random(5) ? [] : [server]
      const { sessionId } = await agent.request(on.session.new, { cwd, mcpServers })
      sessions.push({ sessionId, cwd })
    }
    const words = [
      "list files",
      "read README.md",
      "run sleep 0.05",
      `run sleep ${word}`,
      "write a.txt with x",
    ]
    const doings: ((one: { sessionId: string; cwd: string }) => Promise<unknown>)[] = [
      create,
      (one) => agent.request(on.session.load, { ...one, mcpServers: random(3) ? [] : [server] }),
      (one) => agent.request(on.session.resume, one),
      ({ sessionId }) => agent.request(on.session.close, { sessionId }),
      ({ sessionId }) => agent.request(on.session.delete, { sessionId }),
      ({ sessionId }) => agent.request(on.session.setMode, { sessionId, modeId: pick(["act", "plan"]) }),
      () => agent.request(on.session.list, {}),
      ({ sessionId }) => agent.notify(on.session.cancel, { sessionId }),
      ...Array(8).fill(({ sessionId }: { sessionId: string }) =>
        agent.request(on.session.prompt, { sessionId, prompt: [{ type: "text", text: pick(words) }] }),
      ),
    ]
    await create()
    for (let i = 0; i < steps; i++) {
      answers.push(pick(doings)(pick(sessions)))
      if (random(2)) await sleep(random(20))
    }
    const results = Promise.allSettled(answers)
    let isOver = false
    void results.then(() => {
      isOver = true
    })
    await until(async () => {
      for (const { sessionId } of sessions) await agent.notify(on.session.cancel, { sessionId })
      return isOver
    }, "all is answered")
    const refused = (await results).flatMap((one) => (one.status === "rejected" ? [one.reason] : []))
    for (const error of refused)
      assert.ok(error instanceof RequestError && error.code !== -32603, String(error))
    acp.stdin.end()
    assert.equal(await acp.exit, 0, acp.errors())
    await until(() => running(word).length === 0, "nothing is left")
  })
