// A loopback model that costs nothing, in a process of its own: it calls a tool on one file after the other as often as
// it is told (reads, edits, or reads, edits and commands in turn), then says "done" in as many deltas as it is told. It notes when requests come and answers end.
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

export type Order = {
  turns: number
  deltas: number
  folder: string
  tools?: ("read" | "edit" | "bash")[]
  /** Answer every prompt with one call and the call's result with text, whichever session it belongs to. */
  perPrompt?: boolean
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
    response.end(calls ? callFrames(turn) : textFrames())
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

function frames(choices: object[]): string {
  const chunk = (choice: object) => ({
    id: "c",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: [{ index: 0, ...choice }],
  })
  const usage = {
    id: "c",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: [],
    usage: { prompt_tokens: 9, completion_tokens: 9, total_tokens: 18 },
  }
  return `${[...choices.map(chunk), usage].map((data) => `data: ${JSON.stringify(data)}\n\n`).join("")}data: [DONE]\n\n`
}

function now(): number {
  return performance.timeOrigin + performance.now()
}
