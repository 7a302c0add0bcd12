// The page stays small while it is open: its memory is measured while thousands of events pass.
import assert from "node:assert/strict"
import { test } from "node:test"
import { repeat } from "../../fixture/soak.ts"
import { until } from "../../fixture/until.ts"
import { openPage } from "./harness.ts"
import { layMessages, says } from "./lay-messages.ts"
import { startProxy } from "./proxy.ts"

/** Each round is an answer of 100 pieces with a call, in a session that is open, and in another one. */
const rounds = repeat(200, 2_000)
const pieces = 100

type Sizes = { heap: number; nodes: number; listeners: number }

test("thousands of events leave the memory, the elements and the listeners of the page as they were", async (context) => {
  let id = ""
  await using t = await openPage([], {
    prepare(tmp) {
      id = layMessages(tmp.path, [says("user", "hello"), says("assistant", "Here I am.")])
    },
  })
  await using proxy = await startProxy(t.url)
  const page = await t.page.context().newPage()
  const { code } = await t.client.createBrowserCode()
  await page.goto(`${proxy.url}/#code=${code}`)
  await page.getByText("Connected").waitFor()
  await page.goto(`${proxy.url}/#/session/${id}`)
  await page.getByText("Here I am.").waitFor()
  const session = await t.client.getSession({ id })
  const devtools = await page.context().newCDPSession(page)
  await devtools.send("Performance.enable")

  const measure = async (): Promise<Sizes> => {
    for (let i = 0; i < 3; i++) await devtools.send("HeapProfiler.collectGarbage")
    const { metrics } = await devtools.send("Performance.getMetrics")
    const of = (name: string) => metrics.find((one) => one.name === name)!.value
    return { heap: of("JSHeapUsedSize"), nodes: of("Nodes"), listeners: of("JSEventListeners") }
  }

  let number = 0
  const inject = (type: string, payload: object) =>
    proxy.inject(`data: ${JSON.stringify({ type, time: 1, directory: t.tmp.path, payload })}\n\n`)
  const message = (
    sessionId: string,
    type: string,
    data: object,
    messageId = `msg_z${String(++number).padStart(8, "0")}`,
  ) =>
    inject("message.created", {
      sessionId,
      message: { id: messageId, sessionId, parentId: "x", branch: "main", time: 1, schema: 1, type, data },
    })
  const answer = (round: number, sessionId: string) => {
    const messageId = `msg_z${String(++number).padStart(8, "0")}`
    for (let i = 0; i < pieces; i++)
      inject("message.delta", { sessionId, messageId, parentId: "x", kind: "text", text: `word${i} **x** ` })
    message(
      sessionId,
      "text",
      { role: "assistant", parts: [{ type: "text", text: `Answer ${round}` }], finish: "stop" },
      messageId,
    )
    const call = `call_${number}`
    message(sessionId, "tool_request", {
      calls: [{ id: call, name: "bash", arguments: { command: "ls" }, approval: "approved" }],
    })
    inject("tool.progress", { sessionId, callId: call, text: "printed\n".repeat(20) })
    message(sessionId, "tool_result", {
      requestId: call,
      toolName: "bash",
      status: "success",
      output: "x",
      duration: 1,
      timestamp: 1,
    })
    inject("session.notice", { sessionId, text: `note ${round}` })
  }
  const play = async (from: number, to: number) => {
    for (let round = from; round < to; round++) {
      answer(round, id)
      answer(round, "ses_other")
      inject("session.updated", {
        sessionId: id,
        session: {
          ...session,
          title: `round ${round}`,
          time: { ...session.time, updated: Date.now() + round },
        },
      })
      const other = { ...session, id: `ses_made${round}`, title: `made ${round}` }
      inject("session.created", { sessionId: other.id, session: other })
      inject("session.removed", { sessionId: other.id })
      if (round % 20 === 19) await page.getByText(`round ${round}`).first().waitFor()
    }
    await page.getByText(`Answer ${to - 1}`).waitFor()
    await until(async () => (await page.locator(".live").count()) === 0, "the answer has ended")
  }

  const found: Sizes[] = []
  for (const part of [0.25, 0.5, 1]) {
    await play(found.length === 0 ? 0 : rounds * [0.25, 0.5][found.length - 1]!, rounds * part)
    found.push(await measure())
  }
  const [quarter, half, end] = found as [Sizes, Sizes, Sizes]
  const shown = found.map(
    ({ heap, nodes, listeners }) => `${(heap / 1e6).toFixed(1)} MB, ${nodes} nodes, ${listeners} listeners`,
  )
  context.diagnostic(`${rounds * 2 * (pieces + 8)} events: ${shown.join("; ")}`)
  // The messages themselves stay: some hundred bytes each. What is drawn does not grow with them.
  const kept = rounds * 0.5 * 3 * 1_500
  assert.ok(end.heap - half.heap < kept + 1_000_000, shown.join("; "))
  assert.ok(end.nodes < 1.3 * Math.max(quarter.nodes, half.nodes), shown.join("; "))
  assert.ok(end.listeners < 1.3 * Math.max(quarter.listeners, half.listeners), shown.join("; "))
})
