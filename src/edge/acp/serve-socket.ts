// Serves the ACP agent over one WebSocket: a text frame is a message. A client that stops reading, or that no longer
// answers pings, is disconnected, and its work stops.
import { Readable } from "node:stream"
import type { Serving } from "#edge/acp/session/run-turn.ts"
import { createMessageStream } from "#edge/acp/wire/message-stream.ts"
import * as Log from "#kernel/process/log.ts"
import { serveConnection } from "./serve-connection.ts"

export { maxLine as maxFrame } from "#edge/acp/wire/message-stream.ts"

/** The part of a WebSocket of the package `ws` that is used here. */
export type Socket = {
  on(event: "message", listener: (data: Buffer, isBinary: boolean) => void): unknown
  on(event: "close" | "pong", listener: () => void): unknown
  on(event: "error", listener: (error: Error) => void): unknown
  send(text: string, done: () => void): void
  ping(): void
  pause(): void
  resume(): void
  close(code: number, reason: string): void
  terminate(): void
}
type Limits = {
  /** Milliseconds between pings. A client that has not answered by the next ping is gone. */
  pingEvery?: number | undefined
  /** Characters that may wait for a client to read them. */
  maxUnread?: number | undefined
}

const unsupportedData = 1003
const goingAway = 1001
/** Milliseconds that a client has to answer the closing handshake. */
const closeTimeout = 1_000

export async function serveSocket(
  serving: Serving,
  socket: Socket,
  { signal, pingEvery = 30_000, maxUnread = 64 << 20 }: Limits & { signal: AbortSignal },
): Promise<void> {
  const closed = new Promise<void>((resolve) => socket.on("close", () => resolve()))
  const input = readableOf(socket)
  const output = outputTo(socket, maxUnread)
  const stopPings = keepAlive(socket, pingEvery)
  try {
    await serveConnection(serving, { stream: createMessageStream({ input, output }), signal })
  } finally {
    stopPings()
    socket.close(goingAway, "the connection ends")
    const timer = setTimeout(() => socket.terminate(), closeTimeout)
    await closed
    clearTimeout(timer)
    input.destroy()
  }
}

function readableOf(socket: Socket): Readable {
  const input = new Readable({ read: () => socket.resume() })
  socket.on("message", (data, isBinary) => {
    if (isBinary) return socket.close(unsupportedData, "a message must be a text frame")
    // A frame may be formatted over several lines. In JSON a newline is never inside of a string.
    const line = data.toString("utf8").replaceAll(/[\r\n]+/g, " ")
    if (!input.push(`${line}\n`)) socket.pause()
  })
  socket.on("close", () => input.push(null))
  socket.on("error", (error) => Log.debug("an ACP socket failed", { error: error.message }))
  return input
}

function outputTo(socket: Socket, maxUnread: number) {
  let unread = 0
  return {
    write(text: string, done: () => void): void {
      unread += text.length
      if (unread > maxUnread) {
        Log.warn("an ACP client does not read and was disconnected", { unread })
        socket.terminate()
      }
      socket.send(text.trimEnd(), () => {
        unread -= text.length
      })
      // Not when it is sent: then the messages behind it would wait elsewhere, uncounted.
      done()
    },
  }
}

function keepAlive(socket: Socket, every: number): () => void {
  let isAlive = true
  socket.on("pong", () => {
    isAlive = true
  })
  const timer = setInterval(() => {
    if (!isAlive) return socket.terminate()
    isAlive = false
    socket.ping()
  }, every)
  return () => clearInterval(timer)
}
