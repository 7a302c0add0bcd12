// An HTTP proxy for programs that must not choose their own addresses, such as a browser or those in a sandbox: it
// resolves each name, checks the URL, and connects to exactly the address that was checked. A name that resolves
// differently a moment later gains nothing. With a proxy of the environment the address is not certain: that proxy gets
// the name, after it was checked here, and resolves it again. Private addresses are always reached directly.
import { once } from "node:events"
import * as Http from "node:http"
import { type AddressInfo, connect, type Socket } from "node:net"
import type { Duplex } from "node:stream"
import { errorText } from "#util/error.ts"
import { type Checked, isPublic, UrlDenied } from "./check-url.ts"
import { always } from "./request-page.ts"
import { connectThrough, proxyVariables, upstreamOf } from "./upstream-proxy.ts"

export type Proxy = Readonly<{ port: number; close(): Promise<void> }>
/** Throws `UrlDenied` for URLs that may not be reached. */
type Check = (url: string) => Promise<Checked>

/** More than a download should have; it bounds memory and disk of the program behind the proxy. */
const maxBytes = 200_000_000
const connectLimit = 20_000
/** Headers between a client and its proxy, which are not passed on. */
const ownHeaders = ["proxy-connection", "proxy-authorization", "keep-alive", "te", "trailer", "upgrade"]

/** On a port of loopback, or on a socket in the file system. */
export async function createProxy(check: Check, socketFile?: string): Promise<Proxy> {
  const sockets = new Set<Duplex>()
  const server = Http.createServer((request, response) => void forward(request, response, check))
  server.on("connection", keep)
  server.on("connect", (request, socket, head) => void tunnel({ request, socket, head, check, keep }))
  // The proxy itself must not keep the program running.
  if (socketFile) server.listen(socketFile).unref()
  else server.listen(0, "127.0.0.1").unref()
  await once(server, "listening")

  function keep(socket: Duplex): void {
    sockets.add(socket)
    socket.on("error", () => {}).once("close", () => sockets.delete(socket))
  }

  async function close(): Promise<void> {
    const closed = once(server, "close")
    server.close()
    for (const socket of sockets) socket.destroy()
    await closed
  }

  const port = socketFile ? 0 : (server.address() as AddressInfo).port
  return Object.freeze({ port, close })
}

async function forward(
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

async function tunnel(asked: {
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
