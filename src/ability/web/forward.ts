// What an HTTP proxy does with a request: it passes it on to the address that was checked, or opens a tunnel to it.
import { once } from "node:events"
import * as Http from "node:http"
import { connect, type Socket } from "node:net"
import type { Duplex } from "node:stream"
import { errorText } from "#util/error.ts"
import { type Checked, isPublic, UrlDenied } from "./check-url.ts"
import type { Check } from "./proxy.ts"
import { always } from "./request-page.ts"
import { connectThrough, proxyVariables, upstreamOf } from "./upstream-proxy.ts"

/** More than a download should have; it bounds memory and disk of the program behind the proxy. */
const maxBytes = 200_000_000
const connectLimit = 20_000
/** Headers between a client and its proxy, which are not passed on. */
const ownHeaders = ["proxy-connection", "proxy-authorization", "keep-alive", "te", "trailer", "upgrade"]

export async function forward(
  request: Http.IncomingMessage,
  response: Http.ServerResponse,
  check: Check,
): Promise<void> {
  try {
    const { url, address } = await check(request.url ?? "")
    if (url.protocol !== "http:") throw new UrlDenied(url.href, "scheme", "a proxy gets https by CONNECT.")
    const headers = { ...request.headers }
    for (const name of ownHeaders) delete headers[name]
    const onward = Http.request({
      host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
      port: url.port || 80,
      path: url.pathname + url.search,
      method: request.method ?? "GET",
      headers: { ...headers, host: url.host, connection: "close" },
      agent: isPublic(address) ? new Http.Agent({ proxyEnv: proxyVariables() }) : false,
      lookup: always(address),
    })
    onward.setTimeout(
      connectLimit,
      () => !onward.socket?.connecting || onward.destroy(new Error("it does not answer")),
    )
    onward.on("response", (answer) => {
      response.writeHead(answer.statusCode!, answer.statusMessage, answer.headers)
      bounded(answer, () => response.destroy())
      answer.on("error", () => response.destroy()).pipe(response)
    })
    onward.on("error", (error) => refuse(response, 502, errorText(error)))
    response.on("close", () => onward.destroy())
    request.on("error", () => onward.destroy()).pipe(onward)
  } catch (error) {
    refuse(response, error instanceof UrlDenied ? 403 : 502, errorText(error))
  }
}

function refuse(response: Http.ServerResponse, status: number, text: string): void {
  if (response.headersSent) return void response.destroy()
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8", connection: "close" }).end(text)
}

export async function tunnel(asked: {
  request: Http.IncomingMessage
  socket: Duplex
  head: Buffer
  check: Check
  keep: (socket: Socket) => void
}): Promise<void> {
  const { request, socket, head, check, keep } = asked
  try {
    const { url, address } = await checkHost(request.url ?? "", check)
    if (socket.destroyed) return
    const port = Number(url.port || 443)
    const upstream = isPublic(address) ? upstreamOf(url) : undefined
    const onward = upstream
      ? await connectThrough(upstream, `${url.hostname}:${port}`, connectLimit)
      : connect({ host: address, port })
    keep(onward)
    onward.on("close", () => socket.destroy())
    socket.on("close", () => onward.destroy())
    if (socket.destroyed) return void onward.destroy()
    onward.setTimeout(connectLimit, () => !onward.connecting || onward.destroy())
    if (onward.connecting) await once(onward, "connect")
    socket.write("HTTP/1.1 200 Connection established\r\n\r\n")
    onward.write(head)
    bounded(onward, () => socket.destroy())
    onward.pipe(socket).pipe(onward)
  } catch (error) {
    const status = error instanceof UrlDenied ? "403 Forbidden" : "502 Bad Gateway"
    socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\n\r\n`)
  }
}

/** A tunnel is for https, or for a web socket of either scheme. */
async function checkHost(host: string, check: Check): Promise<Checked> {
  try {
    return await check(`https://${host}/`)
  } catch (error) {
    if (!(error instanceof UrlDenied) || error.reason !== "address") throw error
    const { url, address } = await check(`http://${host}/`)
    return { url: new URL(`https://${url.hostname}:${url.port || 80}/`), address }
  }
}

function bounded(stream: NodeJS.ReadableStream, cut: () => void): void {
  let left = maxBytes
  stream.on("data", (chunk: Buffer) => {
    left -= chunk.length
    if (left < 0) cut()
  })
}
