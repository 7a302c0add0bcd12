// What happens below the app: requests that are not HTTP, too slow or too long, tunnels, bodies that nobody reads.
// They get an answer in our form where one can still be sent, and never hold a connection for long.
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http"
import type { Duplex } from "node:stream"
import * as Log from "#kernel/process/log.ts"
import { errorCode } from "#util/error.ts"
import { invalidRequest, methodNotAllowed, Refusal } from "./refusal.ts"
import { errorBody, securityHeaders } from "./respond.ts"

type Listener = (incoming: IncomingMessage, outgoing: ServerResponse) => void

const lingerTime = 2_000

/** Hand proper requests to the listener, and answer everything else. */
export function answerFaults(server: Server, listener: Listener): void {
  const answers = new WeakMap<Duplex, Set<ServerResponse>>()
  const handle: Listener = (incoming, outgoing) => {
    const { socket } = incoming
    const open = answers.get(socket) ?? new Set()
    answers.set(socket, open.add(outgoing))
    outgoing.once("close", () => open.delete(outgoing))
    outgoing.once("finish", () => dropUnread(incoming))
    listener(incoming, outgoing)
  }
  server.on("request", handle)
  server.on("checkContinue", (incoming, outgoing) => {
    // Reading the body sends "continue"; if nobody reads it, the rest of the connection cannot be parsed.
    outgoing.shouldKeepAlive = false
    handle(incoming, outgoing)
  })
  // Node would answer it in a form of its own.
  server.on("checkExpectation", (incoming, outgoing) => {
    outgoing.shouldKeepAlive = false
    handle(incoming, outgoing)
  })
  // Accepting a connection can fail, for want of file descriptors for one; that is no reason to end.
  server.on("error", (error) => Log.warn("a connection could not be accepted", { error }))
  server.on("connect", (_, socket) => writeRefusal(socket, methodNotAllowed("CONNECT", ["GET"])))
  server.on("clientError", (error, socket) => {
    const begun = [...(answers.get(socket) ?? [])].some(({ headersSent }) => headersSent)
    if (!socket.writable || begun || errorCode(error) === "ECONNRESET") socket.destroy()
    else writeRefusal(socket, refusalFor(errorCode(error)))
  })
}

export function refuse(outgoing: ServerResponse, error: unknown): void {
  if (!(error instanceof Refusal)) throw error
  const body = JSON.stringify(errorBody(error))
  outgoing.writeHead(error.status, { ...headersOf(error), "content-length": Buffer.byteLength(body) })
  outgoing.end(body)
}

function refusalFor(code: string | undefined): Refusal {
  if (code === "HPE_HEADER_OVERFLOW")
    return new Refusal({
      status: 431,
      name: "HeadersTooLarge",
      message: "The headers are larger than 16 KB.",
    })
  if (code === "ERR_HTTP_REQUEST_TIMEOUT")
    return new Refusal({
      status: 408,
      name: "RequestTimeout",
      message: "The request took too long to arrive.",
    })
  if (code === "HPE_CHUNK_EXTENSIONS_OVERFLOW")
    return new Refusal({
      status: 413,
      name: "TooLarge",
      message: "The chunking of the body is wrong: its extensions are larger than 16 KB.",
    })
  if (code?.includes("CHUNK")) return invalidRequest("body", `its chunking is wrong (${code})`)
  return invalidRequest("its first lines", `it is not HTTP${code ? ` (${code})` : ""}`)
}

function writeRefusal(socket: Duplex, refusal: Refusal) {
  const body = JSON.stringify(errorBody(refusal))
  const headers = { ...headersOf(refusal), connection: "close", "content-length": Buffer.byteLength(body) }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const status = `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}\r\n`
  socket.on("error", () => socket.destroy())
  socket.end(`${status}${lines.join("")}\r\n${body}`)
  setTimeout(() => socket.destroy(), lingerTime).unref()
}

function headersOf(refusal: Refusal): Record<string, string> {
  return { ...securityHeaders, "content-type": "application/json; charset=utf-8", ...refusal.headers }
}

/** After the answer a client may finish sending, for a moment: closing at once would take the answer away from it. */
function dropUnread(incoming: IncomingMessage) {
  if (incoming.complete) return
  const timer = setTimeout(() => incoming.socket.destroy(), lingerTime).unref()
  incoming.once("end", () => clearTimeout(timer))
  incoming.once("close", () => clearTimeout(timer))
  incoming.resume()
}
