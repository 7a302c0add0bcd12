// Servers on loopback, each answering with what a function says, and a slot that grants their origins.
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http"
import { createServer as createSecureServer } from "node:https"
import type { AddressInfo, Server } from "node:net"
import type { Slots } from "#ability/tool/run-tool.ts"
import * as Tls from "../../fixture/tls.ts"

export type Site = { origin: string; port: number; asked: IncomingMessage[] } & AsyncDisposable

/** A site whose pages are strings (HTML), or functions that answer. */
export async function site(
  pages: Record<string, string | ((response: ServerResponse, request: IncomingMessage) => void)>,
  options: { secure?: boolean } = {},
): Promise<Site> {
  const asked: IncomingMessage[] = []
  const listener: RequestListener = (request, response) => {
    asked.push(request)
    const page = pages[request.url!.split("?")[0]!]
    if (typeof page === "function") return page(response, request)
    response.writeHead(page === undefined ? 404 : 200, { "content-type": "text/html; charset=utf-8" })
    response.end(page ?? "<h1>Not found</h1><script>x</script><p>No such page &amp; no other</p>")
  }
  const server = options.secure ? createSecureServer(Tls, listener) : createServer(listener)
  const port = await listen(server)
  return {
    origin: `http${options.secure ? "s" : ""}://127.0.0.1:${port}`,
    port,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

export async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return (server.address() as AddressInfo).port
}

/** Everything is allowed, and these origins may be at a private address. */
export function granting(...sites: Site[]): Slots {
  return { permit: () => ({ granted: sites.map(({ origin }) => origin) }) }
}

/** Redirects like a server that does not percent-encode the path: the header has UTF-8 bytes. */
export function redirect(to: string, status = 302) {
  const location = Buffer.from(to).toString("latin1")
  return (response: ServerResponse) => void response.writeHead(status, { location }).end("moved")
}
