// JSON-RPC messages over two byte streams, one message per line. Invalid lines are answered with an error, and lines
// above the limit are not buffered. At the end of the input, `settled` waits until all requests are answered.
// The SDK gets one message per tick: it tries its handlers one by one, each asynchronously, so a message for an early
// handler would overtake an earlier message for a late one.
import type { Readable } from "node:stream"
import { setTimeout as sleep } from "node:timers/promises"
import { type AnyMessage, RequestError, type Stream } from "@agentclientprotocol/sdk"
import { createBoundedLines } from "#util/bounded-lines.ts"
import { explainTree } from "./errors.ts"

export type MessageStream = Readonly<
  Stream & {
    /** Resolves when no more messages can come. */
    ended: Promise<void>
    /** Resolves when every request is answered and all output is written, or after the timeout. */
    settled(milliseconds: number): Promise<void>
  }
>
/** Where messages are written, one call for each. `done` is called when the message has left this process. */
export type Output = { write(text: string, done: (error?: Error | null) => void): unknown }
type Id = string | number | null
type Loose = { id?: unknown; method?: unknown; jsonrpc?: unknown; error?: { code?: number; data?: unknown } }

/** Enough for a prompt with a few large images. */
export const maxLine = 64 << 20
/** Backpressure: the input is paused while this many messages are queued. */
const maxQueued = 1_000

export function createMessageStream({ input, output }: { input: Readable; output: Output }): MessageStream {
  const openRequests = new Set<Id>()
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()
  const queue: AnyMessage[] = []
  /** The reader has cancelled the stream. */
  let isCancelled = false
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

      function deliver(): void {
        const message = queue.shift()
        if (message && !isCancelled) controller.enqueue(message)
        if (queue.length) return void setImmediate(deliver)
        if (input.isPaused()) input.resume()
        if (isOver) setImmediate(end)
      }
      const lines = createBoundedLines({
        limit: maxLine,
        onLine(line) {
          if (!line.trim()) return
          const message = parse(line, refuse)
          if (!message) return
          if (isRequest(message)) openRequests.add(message.id)
          if (queue.push(message as AnyMessage) === 1) setImmediate(deliver)
          if (queue.length >= maxQueued) input.pause()
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
      // The last line may lack a newline.
      input.once("end", () => lines.push(Buffer.from("\n")))
      for (const event of ["end", "close", "error"])
        input.once(event, () => {
          isOver = true
          if (!queue.length) end()
        })
    },
    cancel() {
      isCancelled = true
      end()
    },
  })

  const writable = new WritableStream<AnyMessage>({
    async write(message) {
      if (!("method" in message)) openRequests.delete((message as { id: Id }).id)
      await write(explained(message as Loose))
    },
  })

  async function settled(milliseconds: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    onWritten = () => {
      if (!openRequests.size && !writing) resolve()
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

/** Responses are not checked further: the SDK matches them with its requests. */
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

/** Replaces the SDK's tree of invalid parameters by a readable message. */
function explained(message: Loose): object {
  const { error } = message
  if (error?.code !== -32602) return message
  const reason = explainTree(error.data)
  if (!reason) return message
  const data = { name: "ACP.InvalidParams" }
  return { ...message, error: { code: error.code, message: `Invalid params: ${reason}`, data } }
}
