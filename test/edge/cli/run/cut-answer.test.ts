// An answer that the output token limit cut off is continued, and one that a content filter blocked is requested again.
// An answer that stays incomplete must not look complete, on any surface.
import assert from "node:assert/strict"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { serving, vitamin } from "../../../fixture/cli.ts"
import {
  badCall,
  call,
  empty,
  env,
  fakeLlm,
  noFinish,
  status,
  text,
  wires,
} from "../../../fixture/fake-llm.ts"
import { openTerminal } from "../../../fixture/terminal.ts"
import { type Tmp, tmpdir } from "../../../fixture/tmpdir.ts"
import { withSession } from "../../acp/harness.ts"
import { overStdio, textOf } from "../../mcp/harness.ts"

const half = text("The first half", { finish: "length" })
const filtered = text("I would", { finish: "content-filter" })
const reasons = {
  length: "the answer is not complete: it was cut off at the limit of output tokens",
  filter: "the answer is not complete: it was held back by the provider's content filter",
}

for (const wire of wires) {
  test(`vitamin run continues an answer that was cut off, and a pipe gets it in one piece, over ${wire}`, async () => {
    await using tmp = await tmpdir({ git: true })
    await using llm = await fakeLlm([half, text(" and the ", { finish: "length" }), text("rest.")])
    const { code, out, err } = await vitamin(tmp, ["run", "go"], env(llm, wire).variables)
    assert.deepEqual([code, out], [0, "The first half and the rest."])
    assert.doesNotMatch(err, /not complete/)
    const sent = llm.requests[2]!.messages.slice(llm.requests[0]!.messages.length)
    const last = sent.pop()
    const said = sent.map(({ text }) => text.replaceAll("\n", "")).join("")
    assert.equal(said, "The first half and the ")
    assert.match(`${last!.role} ${last!.text}`, /^user .*Continue exactly where it ended/s)
    const { messages } = await shownAsJson(tmp)
    assert.equal(messages.length, 2)
    assert.deepEqual([messages[1].data.finish, messages[1].usage.output], ["stop", 30])
  })

  test(`vitamin run fails with the reason after four pieces of an answer, and stores them, over ${wire}`, async () => {
    await using tmp = await tmpdir({ git: true })
    await using llm = await fakeLlm((_, turn) => text(`${turn} `, { finish: "length" }))
    const { code, out, err } = await vitamin(tmp, ["run", "go"], env(llm, wire).variables)
    assert.deepEqual([code, out.trim(), llm.requests.length], [1, "0 1 2 3", 4])
    assert.ok(err.includes(`vitamin: ${reasons.length}\n`), err)
    const shown = await vitamin(tmp, ["session", "show"])
    assert.match(shown.out, /\[assistant\] \(cut off at the limit of output tokens\) 0 1 2 3/)
  })

  test(`vitamin run retries once after a content filter, then fails with the reason, over ${wire}`, async () => {
    await using tmp = await tmpdir({ git: true })
    const call = {
      ...filtered,
      blocks: [...filtered.blocks, ...badCall("bash", '{"command":"touch x"}').blocks],
    }
    await using llm = await fakeLlm([filtered, text("Of course."), filtered, call])
    const variables = env(llm, wire).variables
    const first = await vitamin(tmp, ["run", "go"], variables)
    assert.deepEqual([first.code, first.out], [0, "Of course."])
    assert.match(first.err, /content filter blocked the answer.*try 2 of 2/)
    const second = await vitamin(tmp, ["run", "--yes", "go"], variables)
    assert.deepEqual([second.code, second.out, llm.requests.length], [1, "I would", 4])
    assert.ok(second.err.includes(`vitamin: ${reasons.filter}\n`), second.err)
    const { messages } = await shownAsJson(tmp)
    assert.equal(messages.length, 2)
  })

  test(`vitamin run tells the model about a call whose arguments were cut off, and never runs it, over ${wire}`, async () => {
    await using tmp = await tmpdir({ git: true })
    const call = badCall("bash", '{"command": "touch x', { finish: "length" })
    await using llm = await fakeLlm([call, text("I see.")])
    const { code, out } = await vitamin(tmp, ["run", "--yes", "go"], env(llm, wire).variables)
    assert.deepEqual([code, out, existsSync(join(tmp.path, "x"))], [0, "I see.", false])
    const [result] = llm.requests[1]!.messages.flatMap(({ results }) => results)
    assert.match(result!.text, /was not run/)
    if (wire !== "gemini") assert.match(result!.text, /send less in one call/)
  })
}

test("a continuation that breaks off is requested again, and a pipe gets the answer once", async () => {
  await using tmp = await tmpdir({ git: true })
  const rest = text(" and the second half", { deltas: 5 })
  await using llm = await fakeLlm([half, noFinish(rest), rest])
  const { code, out, err } = await vitamin(tmp, ["run", "go"], env(llm, "chat").variables)
  assert.deepEqual([code, out], [0, "The first half and the second half"])
  assert.match(err, /broke off.*try 2 of 6/)
  assert.equal(llm.requests.length, 3)
})

test("a terminal shows a continued answer as one text", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([half, text(" and the rest.")])
  await using terminal = openTerminal(tmp, ["run", "go"], { env: env(llm, "chat").variables })
  assert.equal(await terminal.exit, 0)
  assert.match(terminal.shown(), /^The first half and the rest\.$/m)
})

test("an answer whose continuation no longer fits the window is stored as cut off", async () => {
  await using tmp = await tmpdir({ git: true })
  const tooLong = status(400, { message: "This model's maximum context length is 4096 tokens" })
  await using llm = await fakeLlm([half, tooLong])
  const { code, out, err } = await vitamin(tmp, ["run", "go"], env(llm, "chat").variables)
  assert.deepEqual([code, out, llm.requests.length], [1, "The first half", 2])
  assert.ok(err.includes(reasons.length), err)
})

test("vitamin run does not report a complete answer as cut off", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("All of it")])
  const { err } = await vitamin(tmp, ["run", "go"], env(llm, "chat").variables)
  assert.doesNotMatch(err, /not complete/)
})

test("the HTTP answer and the events carry the finish reason of an answer that is not complete", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm((_, turn) => (turn < 4 ? half : filtered))
  const { child, url, tokenFile } = await serving(tmp, [], env(llm, "chat").variables)
  await using _ = child
  const headers = {
    authorization: `Bearer ${readFileSync(tokenFile, "utf8").trim()}`,
    "content-type": "application/json",
  }
  const post = async (path: string, body: object) =>
    // biome-ignore lint/suspicious/noExplicitAny: the answer of a route.
    (await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) })).json() as any
  const { id } = await post("/session", {})
  const finishes: string[] = []
  for (let i = 0; i < 2; i++)
    finishes.push((await post(`/session/${id}/message`, { text: "go" })).data.finish)
  assert.deepEqual(finishes, ["length", "content-filter"])
  const events = await fetch(`${url}/event`, { headers: { ...headers, "last-event-id": "0" } })
  const seen = await readUntil(events, reasons.filter)
  assert.ok(seen.includes(`"type":"session.notice"`) && seen.includes(reasons.length), seen)
})

test("the tool run of vitamin mcp serve and a subtask mark an answer that was cut off", async () => {
  await using tmp = await tmpdir({ git: true })
  const cut = text("", { finish: "length" })
  const pieces = [half, cut, cut, cut]
  await using llm = await fakeLlm([call("subtask", { task: "t" }), ...pieces, ...pieces])
  const args = ["--allow", "agent.delegate"]
  await using served = await overStdio(tmp, { args, env: env(llm, "chat").variables })
  const result = await served.client.callTool({ name: "run", arguments: { prompt: "go" } })
  assert.match(textOf(result), /^The first half\n\[cut off at the limit of output tokens\]$/)
  const [task] = llm.requests[5]!.messages.flatMap(({ results }) => results)
  assert.match(task!.text, /The first half\n\[cut off at the limit of output tokens\]/)
})

test("ACP answers max_tokens and refusal for answers that are not complete", async () => {
  await using tmp = await tmpdir({ git: true })
  const none = empty({ finish: "content-filter" })
  await using llm = await fakeLlm([half, half, half, half, filtered, filtered, none, none])
  await using acp = await withSession(tmp, { llm })
  for (const reason of ["max_tokens", "refusal", "refusal"])
    assert.equal((await acp.prompt("go")).stopReason, reason)
})

async function shownAsJson(tmp: Tmp) {
  return JSON.parse((await vitamin(tmp, ["session", "show", "--format", "json"])).out)
}

async function readUntil(response: Response, end: string): Promise<string> {
  let seen = ""
  for await (const bytes of response.body!.pipeThrough(new TextDecoderStream())) {
    seen += bytes
    if (seen.includes(end)) break
  }
  return seen
}
