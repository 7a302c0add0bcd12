// A loopback model that costs nothing, in a process of its own: it calls a tool on one file after the other as often as
// it is told (reads, edits, or reads, edits and commands in turn), then says "done" in as many deltas as it is told. It notes when requests come and answers end.
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { streamAnswer } from "./stream-answer.ts"

export type Order = {
  turns: number
  deltas: number
  folder: string
  tools?: ("read" | "edit" | "bash")[]
  /** Answer every prompt with one call and the call's result with text, whichever session it belongs to. */
  perPrompt?: boolean
  /** Spread the deltas of the text over so many milliseconds, as Markdown that ends with "the end". */
  over?: number
}
export type Notes = { first: number; gaps: number[]; bytes: number[]; last: number }

let order: Order = { turns: 0, deltas: 1, folder: "" }
let notes: Notes = { first: 0, gaps: [], bytes: [], last: 0 }

const server = createServer({ noDelay: true }, (request, response) => {
  const arrived = now()
  const parts: Buffer[] = []
  request.on("data", (part: Buffer) => parts.push(part))
  request.on("end", () => {
    const turn = notes.bytes.length
    if (turn === 0) notes.first = arrived
    else notes.gaps.push(arrived - notes.last)
    notes.bytes.push(parts.reduce((sum, part) => sum + part.length, 0))
    response.writeHead(200, { "content-type": "text/event-stream" })
    const calls = order.perPrompt ? !endsWithResult(Buffer.concat(parts)) : turn < order.turns
    const { over, deltas } = order
    if (over && !isSide(parts)) void streamAnswer(response, { over, deltas, frames })
    else response.end(calls ? callFrames(turn) : textFrames())
    response.on("finish", () => {
      notes.last = now()
    })
  })
})
server.listen(0, "127.0.0.1", () => process.send?.({ port: (server.address() as AddressInfo).port }))
process.on("message", (message: Order | "notes") => {
  if (message === "notes") return void process.send?.(notes)
  order = message
  notes = { first: 0, gaps: [], bytes: [], last: 0 }
  process.send?.("ready")
})

/** Programs ask for a title as well, without tools. */
function isSide(parts: Buffer[]): boolean {
  return !Buffer.concat(parts).includes('"tools":[')
}

function endsWithResult(body: Buffer): boolean {
  const { messages } = JSON.parse(body.toString()) as { messages: { role: string }[] }
  return messages.at(-1)?.role === "tool"
}

function callFrames(turn: number): string {
  const path = `${order.folder}/f${String(turn % 200).padStart(3, "0")}.txt`
  const { tools = ["read"] } = order
  const name = tools[turn % tools.length]!
  const args = {
    read: { path },
    edit: { path, edits: [{ oldText: "first line", newText: `line of turn ${turn}` }] },
    bash: { command: `echo turn ${turn}` },
  }
  const call = {
    index: 0,
    id: `call_${turn}`,
    type: "function",
    function: { name, arguments: JSON.stringify(args[name]) },
  }
  return frames([
    { delta: { role: "assistant", tool_calls: [call] } },
    { delta: {}, finish_reason: "tool_calls" },
  ])
}

function textFrames(): string {
  const words = Array.from({ length: order.deltas }, (_, i) => ({
    delta: { content: i ? `word ${i} ` : "done " },
  }))
  return frames([...words, { delta: {}, finish_reason: "stop" }])
}

/** With `isLast` false, more of the same answer follows. */
function frames(choices: object[], isLast = true): string {
  const head = { id: "c", object: "chat.completion.chunk", created: 1, model: "m" }
  const usage = { prompt_tokens: 9, completion_tokens: 9, total_tokens: 18 }
  const chunks = choices.map((choice) => ({ ...head, choices: [{ index: 0, ...choice }] }))
  const all = isLast ? [...chunks, { ...head, choices: [], usage }] : chunks
  const text = all.map((data) => `data: ${JSON.stringify(data)}\n\n`).join("")
  return isLast ? `${text}data: [DONE]\n\n` : text
}

function now(): number {
  return performance.timeOrigin + performance.now()
}
