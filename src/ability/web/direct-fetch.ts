// `fetch` for requests whose addresses were checked before: it connects to exactly these.
import * as Dns from "node:dns"
import * as Http from "node:http"
import * as Https from "node:https"
import { isIP, type LookupFunction } from "node:net"
import { Readable } from "node:stream"
import { proxyOfEnvironment } from "#ability/provider/environment.ts"
import { version } from "#util/version.ts"

type DirectRequest = {
  init: RequestInit | undefined
  /** Undefined if only a proxy can resolve the name. */
  addresses: string[] | undefined
}
export type DirectFetch = (target: URL, request: DirectRequest) => Promise<Response>
/** Milliseconds after which an unused connection is dropped, because the server may have closed it. */
const idleTime = 4_000
const withoutBody = new Set([204, 205, 304])

/** Fetches from exactly the addresses that were checked, with the name in the Host header and in TLS. Redirects are
 * returned, not followed. With a proxy of the environment the addresses are not certain, because the proxy resolves
 * the name again. A server that sends nothing for `silence` milliseconds is given up. */
export function createDirectFetch({ silence }: { silence?: number } = {}): DirectFetch {
  const options = { keepAlive: true, timeout: idleTime, proxyEnv: proxyOfEnvironment() ?? {} }
  const agents = { http: new Http.Agent(options), https: new Https.Agent(options) }

  return async (target, { init = {}, addresses }) => {
    const { signal, ...rest } = init
    signal?.throwIfAborted()
    const request = new Request(target, rest)
    const body = request.body ? Buffer.from(await request.arrayBuffer()) : undefined
    const secure = target.protocol === "https:"
    const outgoing = (secure ? Https : Http).request(target, {
      method: request.method,
      headers: { accept: "*/*", "user-agent": `vitamin/${version}`, ...Object.fromEntries(request.headers) },
      agent: secure ? agents.https : agents.http,
      lookup: only(hostOf(target), addresses),
      ...(signal ? { signal } : {}),
      ...(silence ? { timeout: silence } : {}),
    })
    if (silence)
      outgoing.on("timeout", () => outgoing.destroy(new Error(`the server sent nothing for ${silence} ms`)))
    const message = await answerTo(outgoing, { body, signal })
    try {
      return toResponse(message, target)
    } catch (cause) {
      // An invalid status or header: the rest of the answer is not read.
      message.destroy()
      throw new TypeError("fetch failed", { cause })
    }
  }
}

/** Resolves the host to the checked addresses only. The host of a proxy is resolved as usual. */
function only(host: string, addresses: string[] | undefined): LookupFunction {
  const found = (addresses ?? []).map((address) => ({ address, family: isIP(address) }))
  return (name, options, done) => {
    if (name !== host) return Dns.lookup(name, options, done)
    const [first] = found
    if (!first) return done(new Error(`${host} could not be resolved`), [])
    return options.all ? done(null, found) : done(null, first.address, first.family)
  }
}

function answerTo(
  outgoing: Http.ClientRequest,
  { body, signal }: { body: Buffer | undefined; signal: AbortSignal | null | undefined },
): Promise<Http.IncomingMessage> {
  return new Promise((resolve, reject) => {
    outgoing.on("response", resolve)
    outgoing.on("error", (cause) =>
      reject(signal?.aborted ? signal.reason : new TypeError("fetch failed", { cause })),
    )
    // Closed without a response, for example after a protocol upgrade.
    outgoing.on("close", () => reject(new TypeError("fetch failed: there was no answer")))
    outgoing.end(body)
  })
}

function toResponse(message: Http.IncomingMessage, { href }: URL): Response {
  const headers = new Headers()
  for (let i = 0; i + 1 < message.rawHeaders.length; i += 2)
    headers.append(message.rawHeaders[i]!, message.rawHeaders[i + 1]!)
  const status = message.statusCode!
  const isEmpty = withoutBody.has(status)
  if (isEmpty) message.resume()
  const body = isEmpty ? null : (Readable.toWeb(message) as ReadableStream<Uint8Array>)
  const response = new Response(body, { status, statusText: message.statusMessage ?? "", headers })
  Object.defineProperty(response, "url", { value: href })
  return response
}

/** The host of a URL, an IPv6 address without its brackets. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, "$1")
}
