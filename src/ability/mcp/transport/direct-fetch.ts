// Fetch to exactly the addresses that were checked, with the name in the Host header and in TLS. Redirects are answers like
// any other. Through a proxy of the environment that cannot be promised: it resolves the name again.
import * as Dns from "node:dns"
import * as Http from "node:http"
import * as Https from "node:https"
import { isIP, type LookupFunction } from "node:net"
import { Readable } from "node:stream"
import { hostOf } from "#ability/mcp/server/check-lead.ts"
import { proxyOfEnvironment } from "#ability/provider/use-proxy.ts"
import { version } from "#util/version.ts"

type Wish = {
  init: RequestInit | undefined
  /** Undefined if only a proxy can resolve the name. */
  addresses: string[] | undefined
}
export type DirectFetch = (target: URL, wish: Wish) => Promise<Response>

/** A connection that was not used for so long may be closed at the other end. */
const idleTime = 4_000
const withoutBody = new Set([204, 205, 304])

export function createDirectFetch(): DirectFetch {
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
    })
    const message = await answerTo(outgoing, { body, signal })
    try {
      return toResponse(message, target)
    } catch (cause) {
      // Of a status or a header that there is not. Nobody would read it to its end.
      message.destroy()
      throw new TypeError("fetch failed", { cause })
    }
  }
}

/** The answer to any lookup of the host. A proxy has a name of its own. */
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
    // Without an answer that we know, such as a change of the protocol.
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
