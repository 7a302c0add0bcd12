// Sends a POST with a body in pieces, so that a long conversation is not joined and copied at every turn. `fetch` would do both,
// and takes longer to load than the rest of a request.
import type { IncomingMessage } from "node:http"
import type { Readable } from "node:stream"
import { errorCode } from "#util/error.ts"
import { redirectTarget } from "#util/redirect.ts"

export type Reply = {
  status: number
  statusText: string
  headers: Record<string, string>
  body: Readable
}
type Sending = {
  url: string
  headers: Record<string, string>
  body: readonly Uint8Array[]
  /** The setting of the URL, named in errors. */
  setting: string
  signal?: AbortSignal | undefined
}

/** Failures of the network are thrown as they are, and `RedirectRefused` for a redirect that leaves the origin. */
export async function post(sending: Sending, hops = 0): Promise<Reply> {
  const response = await send(sending).catch((error) => {
    if (error !== closedMeanwhile) throw error
    return send(sending)
  })
  const { statusCode: status = 0, statusMessage: statusText = "" } = response
  const { location } = response.headers
  const url = new URL(sending.url)
  try {
    const next = redirectTarget({ url, method: "POST", status, location, hops, setting: sending.setting })
    if (next) {
      response.resume()
      return post({ ...sending, url: next.href }, hops + 1)
    }
  } catch (error) {
    response.destroy()
    throw error
  }
  return { status, statusText, headers: headersOf(response), body: await decoded(response) }
}

/** The server closed a kept connection just as it was reused: the request can be sent again. */
const closedMeanwhile = new Error("The connection was closed meanwhile.")

async function send({ url, headers, body, signal }: Sending): Promise<IncomingMessage> {
  signal?.throwIfAborted()
  const target = new URL(url)
  // An import would evaluate every export of the module, and one of them loads the code of `fetch`.
  const { request } = process.getBuiltinModule(target.protocol === "https:" ? "node:https" : "node:http")
  const length = body.reduce((sum, { byteLength }) => sum + byteLength, 0)
  return new Promise((resolve, reject) => {
    const sent = request(target, { method: "POST", headers: { ...headers, "content-length": length } })
    const abort = () => void sent.destroy()
    signal?.addEventListener("abort", abort, { once: true })
    sent
      .on("response", resolve)
      .on("close", () => signal?.removeEventListener("abort", abort))
      .on("error", (error) => reject(sent.reusedSocket && isClosed(error) ? closedMeanwhile : error))
    sent.cork()
    for (const piece of body) sent.write(piece)
    sent.end()
    sent.uncork()
  })
}

function isClosed(error: unknown): boolean {
  return errorCode(error) === "ECONNRESET" || errorCode(error) === "EPIPE"
}

function headersOf({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
}

/** Some gateways compress although no encoding was accepted. */
async function decoded(response: IncomingMessage): Promise<Readable> {
  const encoding = response.headers["content-encoding"]
  if (!encoding || encoding === "identity") return response
  const { createBrotliDecompress, createUnzip } = await import("node:zlib")
  const { pipeline } = await import("node:stream")
  // Errors appear at the returned stream.
  return pipeline(response, encoding === "br" ? createBrotliDecompress() : createUnzip(), () => {})
}
