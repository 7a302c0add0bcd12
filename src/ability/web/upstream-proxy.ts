// The proxy of the person's environment (`HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`), and tunnels through it.
import { once } from "node:events"
import * as Http from "node:http"
import * as Https from "node:https"
import type { Socket } from "node:net"
import * as Env from "#kernel/process/env.ts"

/** The variables as Node's agents take them. */
export function proxyVariables(): Record<string, string> {
  const names = ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"]
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = Env.get(name.toLowerCase()) || Env.get(name)
      return value ? [[name, value]] : []
    }),
  )
}

/** The proxy for a URL; undefined if it is reached directly. */
export function upstreamOf(url: URL): URL | undefined {
  const { HTTP_PROXY, HTTPS_PROXY, NO_PROXY = "" } = proxyVariables()
  const given = url.protocol === "https:" ? HTTPS_PROXY : HTTP_PROXY
  const proxy = given ? URL.parse(given) : null
  if (!proxy || !/^https?:$/.test(proxy.protocol)) return undefined
  return NO_PROXY.split(/[\s,]+/).some((entry) => entry && isFor(entry, url)) ? undefined : proxy
}

/** A connection through the proxy to a host and port. Rejects if the proxy refuses, or does not answer within `limit`
 * milliseconds. */
export async function connectThrough(proxy: URL, target: string, limit: number): Promise<Socket> {
  const { username, password } = proxy
  const user = [username, password].map(decodeURIComponent).join(":")
  const request = (proxy.protocol === "https:" ? Https : Http).request({
    host: proxy.hostname.replace(/^\[(.*)\]$/, "$1"),
    port: proxy.port || (proxy.protocol === "https:" ? 443 : 80),
    method: "CONNECT",
    path: target,
    headers: {
      host: target,
      ...(username ? { "proxy-authorization": `Basic ${Buffer.from(user).toString("base64")}` } : {}),
    },
    agent: false,
  })
  request.setTimeout(limit, () => request.destroy(new Error(`the proxy ${proxy.host} does not answer`))).end()
  const [answer, socket, head] = (await once(request, "connect")) as [Http.IncomingMessage, Socket, Buffer]
  socket.setTimeout(0)
  if (answer.statusCode !== 200) {
    socket.destroy()
    throw new Error(`the proxy ${proxy.host} refuses ${target} with ${answer.statusCode}`)
  }
  if (head.length) socket.unshift(head)
  return socket
}

/** An entry of NO_PROXY: `*`, a host, a domain (`.example.com`, `*.example.com`), each with or without a port. */
function isFor(entry: string, url: URL): boolean {
  const [, host = "", port] = /^(.*?)(?::(\d+))?$/.exec(entry.toLowerCase())!
  if (port && port !== (url.port || (url.protocol === "https:" ? "443" : "80"))) return false
  const name = host.replace(/^\*?\./, "")
  return host === "*" || url.hostname === name || url.hostname.endsWith(`.${name}`)
}
