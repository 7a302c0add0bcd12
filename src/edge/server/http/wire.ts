// Answers requests that never reach the app: invalid HTTP, requests that are too slow or too large, CONNECT tunnels. It
// also drops bodies that no route reads. The client gets an error in our format if one can still be sent, and the
// connection is closed soon.
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http"
import type { Duplex } from "node:stream"
import * as Log from "#kernel/process/log.ts"
import { errorCode } from "#util/error.ts"
import { invalidRequest, methodNotAllowed, Refusal } from "./refusal.ts"
import { errorBody, securityHeaders } from "./respond.ts"

type Listener = (incoming: IncomingMessage, outgoing: ServerResponse) => void

/** How long a client may go on sending after its error response. */
const lingerTime = 2_000

/** Passes valid requests to the listener, and answers all others. */
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
    // `readBody` sends "100 Continue". If no route reads the body, the next request on this connection could not be parsed.
    outgoing.shouldKeepAlive = false
    handle(incoming, outgoing)
  })
  // Node's own answer would not be in our error format.
  server.on("checkExpectation", (incoming, outgoing) => {
    outgoing.shouldKeepAlive = false
    handle(incoming, outgoing)
  })
  // Accepting a connection may fail, for example without free file descriptors. The server goes on.
  server.on("error", (error) => Log.warn("a connection could not be accepted", { error }))
  server.on("connect", (_, socket) => writeRefusal(socket, methodNotAllowed("CONNECT", ["GET"])))
  server.on("clientError", (error, socket) => {
    const isStarted = [...(answers.get(socket) ?? [])].some(({ headersSent }) => headersSent)
    if (!socket.writable || isStarted || errorCode(error) === "ECONNRESET") socket.destroy()
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

/** Answers on a connection that has no response object. */
export function writeRefusal(socket: Duplex, refusal: Refusal): void {
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

/** Drops the rest of the body after the response. The socket stays open for a moment: closing it at once would reset the
 * connection before the client has read the response. */
function dropUnread(incoming: IncomingMessage) {
  if (incoming.complete) return
  const timer = setTimeout(() => incoming.socket.destroy(), lingerTime).unref()
  incoming.once("end", () => clearTimeout(timer))
  incoming.once("close", () => clearTimeout(timer))
  incoming.resume()
}
