// Sends one request, GET or POST, to exactly the address that was checked, with the name in the Host header and in TLS. With a
// proxy of the environment the address is not certain: the proxy resolves the name again, and only its own rules keep
// it from private addresses. Private addresses are always reached directly.

import { once } from "node:events"
import type { IncomingMessage } from "node:http"
import * as Http from "node:http"
import * as Https from "node:https"
import { isIPv6, type LookupFunction } from "node:net"
import { pipeline, type Readable, type Transform } from "node:stream"
import { constants, createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from "node:zlib"
import { NamedError } from "#util/error.ts"
import { version } from "#util/version.ts"
import { type Checked, isPublic } from "./check-url.ts"
import { proxyVariables } from "./upstream-proxy.ts"

const usual = {
  "user-agent": `vitamin/${version}`,
  accept:
    "text/markdown, text/html, application/xhtml+xml, text/plain;q=0.9, application/json;q=0.9, */*;q=0.5",
  "accept-encoding": "gzip, br, deflate",
}

export type Body = { bytes: Buffer; isCut: boolean }

export function requestPage(
  { url, address }: Checked,
  options: { signal: AbortSignal; headers?: Record<string, string> | undefined; body?: string },
): Promise<Http.IncomingMessage> {
  const { signal, headers = {}, body } = options
  const secure = url.protocol === "https:"
  const connection = { proxyEnv: !address || isPublic(address) ? proxyVariables() : {} }
  return new Promise((resolve, reject) => {
    const request = (secure ? Https : Http).request({
      host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
      ...(url.port ? { port: url.port } : {}),
      method: body === undefined ? "GET" : "POST",
      path: url.pathname + url.search,
      headers: { ...usual, ...headers },
      signal,
      agent: secure ? new Https.Agent(connection) : new Http.Agent(connection),
      ...(address ? { lookup: always(address) } : {}),
    })
    request.on("response", resolve).on("error", reject).end(body)
  })
}

/** Reads and decompresses the body up to `limit` bytes. The rest is neither read nor decompressed, so that a small
 * response cannot become a huge one. */
export async function readBody(response: IncomingMessage, limit: number): Promise<Body> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of await unpack(response)) {
      chunks.push(chunk)
      size += chunk.length
      if (size > limit) break
    }
  } finally {
    response.destroy()
  }
  return { bytes: Buffer.concat(chunks).subarray(0, limit), isCut: size > limit }
}

/** The only answer to any name lookup of the connection. */
export function always(address: string): LookupFunction {
  const family = isIPv6(address) ? 6 : 4
  return (_host, { all }, done) => (all ? done(null, [{ address, family }]) : done(null, address, family))
}

async function unpack(response: IncomingMessage): Promise<Readable> {
  const encoding = (response.headers["content-encoding"] ?? "").trim().toLowerCase()
  if (encoding === "" || encoding === "identity") return response
  const unpacked = decoder(encoding, encoding === "deflate" ? await firstByte(response) : 0)
  // An error of either stream ends the other, and is thrown to the reader.
  return pipeline(response, unpacked, () => {})
}

async function firstByte(response: IncomingMessage): Promise<number> {
  await once(response, "readable")
  const first: Buffer | null = response.read(1)
  if (first) response.unshift(first)
  return first?.[0] ?? 0
}

/** Accepts truncated data, and "deflate" with or without a header, because servers send both. */
function decoder(encoding: string, first: number): Transform {
  const options = { finishFlush: constants.Z_SYNC_FLUSH }
  if (encoding === "gzip" || encoding === "x-gzip") return createGunzip(options)
  if (encoding === "br") return createBrotliDecompress()
  if (encoding !== "deflate")
    throw new NamedError(
      "Fetch.UnknownEncoding",
      `The page has the encoding ${JSON.stringify(encoding)}, which was not requested.`,
    )
  return (first & 0x0f) === 8 ? createInflate(options) : createInflateRaw(options)
}
