// JSON-RPC messages over two byte streams, one on each line. A line that is no message is answered and forgotten, one
// that has no end is not kept, and the end of the input waits until what was asked before it is answered. The SDK gets one
// message per tick: it tries its handlers in turn, each asynchronously, so that a message for one of the first would
// overtake an earlier one for one of the last.
import type { Readable, Writable } from "node:stream"
import { setTimeout as sleep } from "node:timers/promises"
import { type AnyMessage, RequestError, type Stream } from "@agentclientprotocol/sdk"
import { createBoundedLines } from "#util/bounded-lines.ts"
import { explainTree } from "./errors.ts"

export type MessageStream = Readonly<
  Stream & {
    /** When nothing more can come. */
    ended: Promise<void>
    /** When every request is answered and all is written, or the time is up. */
    settled(milliseconds: number): Promise<void>
  }
>
type Id = string | number | null
type Loose = { id?: unknown; method?: unknown; jsonrpc?: unknown; error?: { code?: number; data?: unknown } }

/** Room for a few large images. */
const maxLine = 64 << 20
/** Of a client that asks faster than it can be heard no more is read than this. */
const maxWaiting = 1_000

export function createMessageStream({ input, output }: { input: Readable; output: Writable }): MessageStream {
  const asked = new Set<Id>()
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()
  const waiting: AnyMessage[] = []
  /** Nobody takes them any more. */
  let isUnread = false
  let writing = 0
  let onWritten = () => {}

  const write = (message: object) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    writing++
    output.write(`${JSON.stringify(message)}\n`, (error) => {
      writing--
      if (error) reject(error)
      else resolve()
      onWritten()
    })
    return promise
  }
  const refuse = (id: Id, error: RequestError) =>
    void write({ jsonrpc: "2.0", id, error: error.toErrorResponse() }).catch(end)

  const readable = new ReadableStream<AnyMessage>({
    start(controller) {
      let isOver = false

      function give(): void {
        const message = waiting.shift()
        if (message && !isUnread) controller.enqueue(message)
        if (waiting.length) return void setImmediate(give)
        if (input.isPaused()) input.resume()
        if (isOver) setImmediate(end)
      }
      const lines = createBoundedLines({
        limit: maxLine,
        onLine(line) {
          if (!line.trim()) return
          const message = parse(line, refuse)
          if (!message) return
          if (isRequest(message)) asked.add(message.id)
          if (waiting.push(message as AnyMessage) === 1) setImmediate(give)
          if (waiting.length >= maxWaiting) input.pause()
        },
        onCut: ({ bytes }) =>
          refuse(
            null,
            RequestError.invalidRequest(
              undefined,
              `a message of ${bytes} bytes is larger than the limit of ${maxLine}`,
            ),
          ),
      })
      input.on("data", (chunk: Buffer) => lines.push(chunk))
      // The last line may have no end.
      input.once("end", () => lines.push(Buffer.from("\n")))
      for (const event of ["end", "close", "error"])
        input.once(event, () => {
          isOver = true
          if (!waiting.length) end()
        })
    },
    cancel() {
      isUnread = true
      end()
    },
  })

  const writable = new WritableStream<AnyMessage>({
    async write(message) {
      if (!("method" in message)) asked.delete((message as { id: Id }).id)
      await write(explained(message as Loose))
    },
  })

  async function settled(milliseconds: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    onWritten = () => {
      if (!asked.size && !writing) resolve()
    }
    onWritten()
    await Promise.race([promise, sleep(milliseconds, undefined, { ref: false })])
  }

  return Object.freeze({ readable, writable, ended, settled })
}

function parse(line: string, refuse: (id: Id, error: RequestError) => void): Loose | undefined {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    refuse(null, RequestError.parseError(undefined, "the line is not JSON"))
    return undefined
  }
  if (Array.isArray(value)) {
    refuse(null, RequestError.invalidRequest(undefined, "JSON-RPC batches are not supported"))
    return undefined
  }
  const message = value as Loose
  if (isMessage(message)) return message
  const id = isId((message as Loose | null)?.id) ? (message.id as Id) : null
  refuse(id, RequestError.invalidRequest(undefined, "the line is not a JSON-RPC 2.0 message"))
  return undefined
}

/** What looks like an answer is left to who waits for one. */
function isMessage(message: Loose | null): boolean {
  if (typeof message !== "object" || message === null || message.jsonrpc !== "2.0") return false
  if (!("method" in message)) return "id" in message
  return typeof message.method === "string" && (!("id" in message) || isId(message.id))
}

function isRequest(message: Loose): message is Loose & { id: Id } {
  return "method" in message && "id" in message
}

function isId(id: unknown): boolean {
  return id === null || typeof id === "string" || (typeof id === "number" && Number.isFinite(id))
}

/** Wrong parameters, in words. */
function explained(message: Loose): object {
  const { error } = message
  if (error?.code !== -32602) return message
  const reason = explainTree(error.data)
  if (!reason) return message
  const data = { name: "ACP.InvalidParams" }
  return { ...message, error: { code: error.code, message: `Invalid params: ${reason}`, data } }
}
