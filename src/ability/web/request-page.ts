// One GET request to exactly the address that was checked, with the name in the Host header and in TLS.
// Through a proxy of the environment that cannot be promised: the name was resolved and judged here, but the proxy
// resolves it again, and its own rules are what keeps it from private addresses. Private ones are always reached directly.
import * as Http from "node:http"
import * as Https from "node:https"
import { isIPv6, type LookupFunction } from "node:net"
import * as Env from "#kernel/process/env.ts"
import { version } from "#util/version.ts"
import { type Checked, isPublic } from "./check-url.ts"

const headers = {
  "user-agent": `vitamin/${version}`,
  accept:
    "text/markdown, text/html, application/xhtml+xml, text/plain;q=0.9, application/json;q=0.9, */*;q=0.5",
  "accept-encoding": "gzip, br, deflate",
}

export function requestPage({ url, address }: Checked, signal: AbortSignal): Promise<Http.IncomingMessage> {
  const secure = url.protocol === "https:"
  const options = { proxyEnv: isPublic(address) ? proxies() : {} }
  return new Promise((resolve, reject) => {
    const request = (secure ? Https : Http).request({
      host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
      ...(url.port ? { port: url.port } : {}),
      path: url.pathname + url.search,
      headers,
      signal,
      agent: secure ? new Https.Agent(options) : new Http.Agent(options),
      lookup: always(address),
    })
    request.on("response", resolve).on("error", reject).end()
  })
}

/** The only answer to any name lookup of the connection. */
function always(address: string): LookupFunction {
  const family = isIPv6(address) ? 6 : 4
  return (_host, { all }, done) => (all ? done(null, [{ address, family }]) : done(null, address, family))
}

function proxies(): Record<string, string> {
  const names = ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"]
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = Env.get(name.toLowerCase()) || Env.get(name)
      return value ? [[name, value]] : []
    }),
  )
}
