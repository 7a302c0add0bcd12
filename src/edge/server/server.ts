// The HTTP server: node:http with limits on what a client can send and how long it can hold a connection, the app, the
// event log and the token. `stop` lets running responses finish, up to a timeout.
import { once } from "node:events"
import { createServer as createHttpServer, type IncomingMessage, type Server } from "node:http"
import type { AddressInfo, Socket } from "node:net"
import { join } from "node:path"
import { getRequestListener } from "@hono/node-server"
import type { Serving } from "#edge/acp/acp-agent.ts"
import { createEventStream } from "#edge/server/event/event-stream.ts"
import { invalidRequest, unmetExpectation } from "#edge/server/http/refusal.ts"
import { errorResponse } from "#edge/server/http/respond.ts"
import { answerFaults, refuse } from "#edge/server/http/wire.ts"
import { createAudit } from "#edge/server/people/audit.ts"
import { createPresence } from "#edge/server/people/presence.ts"
import { createBrowserSessions } from "#edge/server/web/browser-sessions.ts"
import { createPageFiles } from "#edge/server/web/page-files.ts"
import { createEventLog, type EventLog, type SharedEventLog } from "#kernel/bus/event-log.ts"
import * as Global from "#kernel/process/global.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { errorCode, errorText, NamedError } from "#util/error.ts"
import { hostsOf, openUrls, urlOf } from "./address.ts"
import { type AppOptions, createApp } from "./app.ts"
import { checkHost, createGuard } from "./guard.ts"
import { createIdleSweep } from "./idle-sweep.ts"
import { createSockets } from "./sockets.ts"
import * as Token from "./token.ts"

type Connections = Readonly<{
  /** Mark a connection as authenticated: a request on it had the token. */
  admit(socket: Socket): void
}>

/** Node refuses connections above this number, from any client. */
const maxConnections = 4_000
/** Connections without the token. */
const maxUnauthenticated = 500

export class PortInUse extends NamedError {
  constructor(port: number, host: string) {
    super(
      "Server.PortInUse",
      `Port ${port} on ${host} is in use. Stop what uses it, choose another with --port, or take any free one with --port 0.`,
      { port, host },
    )
  }
}

export class InvalidHost extends NamedError {
  constructor(host: string) {
    super(
      "Server.InvalidHost",
      `The server cannot listen on ${JSON.stringify(host)}: that is not an address. Use 127.0.0.1, or 0.0.0.0 for every address of this machine.`,
      { host },
    )
  }
}

export class CannotListen extends NamedError {
  constructor(port: number, host: string, reason: string) {
    super("Server.CannotListen", `The server cannot listen on ${host}, port ${port}: ${reason}`, {
      port,
      host,
    })
  }
}

export type RunningServer = Readonly<{
  url: string
  /** The URLs for other machines; undefined on loopback. */
  openUrls: string[] | undefined
  port: number
  tokenFile: string
  /** An address that signs a browser in once, within a minute; undefined without a page. */
  signInUrl(): string | undefined
  stop(): Promise<void>
}>
export type ServerOptions = Pick<
  AppOptions,
  "directory" | "init" | "config" | "version" | "routes" | "bodyLimit" | "across"
> & {
  port: number
  host?: string
  /** Whether `/` shows the page. */
  hasPage?: boolean
  /** How the Agent Client Protocol is served over a WebSocket at /acp. Without it, it is not. */
  acp?: Serving
  /** In milliseconds. */
  headersTimeout?: number
  requestTimeout?: number
  stopTimeout?: number
  heartbeat?: number
  stall?: number
}

const keepAliveTimeout = 5_000

/** Start listening. Port 0 takes any free port. */
export async function createServer(options: ServerOptions): Promise<RunningServer> {
  const { port, host = "127.0.0.1", headersTimeout = 10_000, requestTimeout = 60_000, acp, ...rest } = options
  const { token, file: tokenFile } = Token.load()
  const server = createHttpServer({
    maxHeaderSize: 16 << 10,
    headersTimeout,
    requestTimeout,
    keepAliveTimeout,
    // Node's own answer would not be in our error format.
    requireHostHeader: false,
    // Other upgrades, such as curl's to HTTP/2, are answered as usual requests.
    shouldUpgradeCallback: ({ headers }) =>
      acp !== undefined && headers.upgrade?.toLowerCase() === "websocket",
    connectionsCheckingInterval: Math.min(1_000, headersTimeout / 2),
  })
  const connections = createConnections(server)
  const bound = await listen(server, port, host)

  const log = await openEventLog()
  const eventStream = createEventStream({ ...rest, log })
  const sweep = createIdleSweep({
    directory: rest.directory,
    olderThan: 30 * 60_000,
    keep: 50,
    every: 60_000,
  })
  const hosts = hostsOf({ ...bound, asked: host })
  const origins = hosts.map((name) => `http://${name}`)
  const init = async () => {
    sweep.run()
    await rest.init?.()
  }
  const browsers = rest.hasPage ? await createBrowserSessions({ port: bound.port }) : undefined
  const access = { token, hosts, origins, admit: connections.admit, ...(browsers ? { browsers } : {}) }
  const people = { presence: createPresence(), audit: createAudit() }
  const sockets =
    acp && createSockets(acp, { ...people, check: createGuard({ ...access, isOpen: () => false }) })
  const app = createApp({
    ...rest,
    ...access,
    ...people,
    init,
    eventStream,
    socketPaths: sockets ? [sockets.path] : [],
    ...(rest.hasPage ? { page: createPageFiles() } : {}),
  })
  const listener = getRequestListener(app.fetch, {
    overrideGlobalObjects: false,
    errorHandler: (error) => errorResponse(invalidRequest("its target or Host", errorText(error))),
  })
  answerFaults(server, (incoming, outgoing) => {
    try {
      checkHost(incoming, hosts)
      checkExpectation(incoming)
    } catch (error) {
      return refuse(outgoing, error)
    }
    void listener(incoming, outgoing)
  })

  if (sockets) server.on("upgrade", sockets.upgrade)

  let stopped: Promise<void> | undefined
  async function shutDown() {
    const closed = once(server, "close")
    server.close()
    sweep.stop()
    people.presence.close()
    eventStream.disconnect()
    const socketsClosed = sockets?.close()
    // A connection becomes idle when its response is sent; keep-alive would then hold it open.
    const closing = setInterval(() => server.closeIdleConnections(), 20)
    const deadline = setTimeout(() => server.closeAllConnections(), rest.stopTimeout ?? 5_000)
    await socketsClosed
    await closed
    clearInterval(closing)
    clearTimeout(deadline)
    eventStream.close()
    await log.close()
  }

  return Object.freeze({
    url: urlOf(bound.address, bound.port),
    openUrls: openUrls(bound.address, bound.port),
    port: bound.port,
    tokenFile,
    signInUrl: () => browsers && `${urlOf(bound.address, bound.port)}/#code=${browsers.createCode().code}`,
    stop() {
      stopped ??= shutDown()
      return stopped
    },
  })
}

/** Servers that share a database share their events. */
async function openEventLog(): Promise<EventLog | SharedEventLog> {
  const database = Storage.sharedDatabase()
  if (!database) return createEventLog({ directory: join(Global.state(), "events") })
  return (await import("#kernel/bus/event-table.ts")).createEventTable(database)
}

function checkExpectation({ headers, httpVersion }: IncomingMessage): void {
  const { expect } = headers
  if (expect === undefined || httpVersion === "1.0" || /(?:^|\W)100-continue(?:$|\W)/i.test(expect)) return
  throw unmetExpectation(expect)
}

async function listen(server: Server, port: number, host: string): Promise<AddressInfo> {
  const name = host.trim().replace(/^\[(.*)\]$/, "$1")
  // Node takes an empty host for every address.
  if (name === "") throw new InvalidHost(host)
  try {
    server.listen({ port, host: name })
    await once(server, "listening")
  } catch (error) {
    if (errorCode(error) === "EADDRINUSE") throw new PortInUse(port, host)
    throw new CannotListen(port, host, errorText(error))
  }
  return server.address() as AddressInfo
}

/** Limits connections without the token: above the limit, the oldest of them is closed. Clients without the token can
 * therefore never lock out the others. */
function createConnections(server: Server): Connections {
  /** The oldest first. */
  const unauthenticated = new Set<Socket>()
  server.maxConnections = maxConnections
  server.on("connection", (socket: Socket) => {
    unauthenticated.add(socket)
    socket.once("close", () => unauthenticated.delete(socket))
    if (unauthenticated.size <= maxUnauthenticated) return
    const [oldest] = unauthenticated
    oldest!.destroy()
    unauthenticated.delete(oldest!)
  })
  return Object.freeze({ admit: (socket: Socket) => void unauthenticated.delete(socket) })
}
