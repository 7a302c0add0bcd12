// The server as a process has it: node:http with limits on everything a client can send or hold, the app behind it,
// the event log and the token beside it. `stop` ends it without cutting off what is being answered.
import { once } from "node:events"
import { createServer as createHttpServer, type Server } from "node:http"
import { join } from "node:path"
import { getRequestListener } from "@hono/node-server"
import { createEventLog } from "#kernel/event-log.ts"
import * as Global from "#kernel/global.ts"
import { errorCode, errorText, NamedError } from "#util/error.ts"
import { type AppOptions, createApp } from "./app.ts"
import { createEventStream } from "./event-stream.ts"
import { bracketed, checkHost, hostsOf, isWildcard } from "./guard.ts"
import { invalidRequest } from "./refusal.ts"
import { errorResponse } from "./respond.ts"
import * as Token from "./token.ts"
import { answerFaults, refuse } from "./wire.ts"

export class PortInUse extends NamedError {
  constructor(port: number, host: string) {
    super(
      "Server.PortInUse",
      `Port ${port} on ${host} is in use. Stop what uses it, choose another with --port, or take any free one with --port 0.`,
      { port, host },
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

export type RunningServer = Readonly<{ url: string; port: number; tokenFile: string; stop(): Promise<void> }>
export type ServerOptions = Pick<
  AppOptions,
  "directory" | "init" | "config" | "version" | "routes" | "bodyLimit"
> & {
  port: number
  host?: string
  /** In milliseconds. */
  headersTimeout?: number
  requestTimeout?: number
  keepAliveTimeout?: number
  stopTimeout?: number
  heartbeat?: number
  stall?: number
  maxConnections?: number
}

/** Start to listen. Port 0 takes any free one. */
export async function createServer(options: ServerOptions): Promise<RunningServer> {
  const { port, host = "127.0.0.1", headersTimeout = 10_000, requestTimeout = 60_000, ...rest } = options
  const { token, file: tokenFile } = Token.load()
  const server = createHttpServer({
    maxHeaderSize: 16 << 10,
    headersTimeout,
    requestTimeout,
    keepAliveTimeout: rest.keepAliveTimeout ?? 5_000,
    connectionsCheckingInterval: Math.min(1_000, headersTimeout / 2),
  })
  server.maxConnections = rest.maxConnections ?? 1_000
  const actualPort = await listen(server, port, host)

  const log = createEventLog({ directory: join(Global.state(), "events") })
  const eventStream = createEventStream({ ...rest, log })
  const hosts = hostsOf(host, actualPort)
  const origins = hosts.map((name) => `http://${name}`)
  const app = createApp({ ...rest, token, hosts, origins, eventStream })
  const listener = getRequestListener(app.fetch, {
    overrideGlobalObjects: false,
    errorHandler: (error) => errorResponse(invalidRequest("its target or Host", errorText(error))),
  })
  answerFaults(server, (incoming, outgoing) => {
    try {
      checkHost(incoming, hosts)
    } catch (error) {
      return refuse(outgoing, error)
    }
    void listener(incoming, outgoing)
  })

  let stopped: Promise<void> | undefined
  async function shutDown() {
    const closed = once(server, "close")
    server.close()
    eventStream.disconnect()
    // A connection becomes idle when its answer is out, and would then be kept for the next request.
    const sweep = setInterval(() => server.closeIdleConnections(), 20)
    const deadline = setTimeout(() => server.closeAllConnections(), rest.stopTimeout ?? 5_000)
    await closed
    clearInterval(sweep)
    clearTimeout(deadline)
    eventStream.close()
    log.close()
  }

  const name = isWildcard(host) ? "127.0.0.1" : bracketed(host)
  return Object.freeze({
    url: `http://${name}:${actualPort}`,
    port: actualPort,
    tokenFile,
    stop() {
      stopped ??= shutDown()
      return stopped
    },
  })
}

async function listen(server: Server, port: number, host: string): Promise<number> {
  try {
    server.listen({ port, host: host.replace(/^\[(.*)\]$/, "$1") })
    await once(server, "listening")
  } catch (error) {
    if (errorCode(error) === "EADDRINUSE") throw new PortInUse(port, host)
    throw new CannotListen(port, host, errorText(error))
  }
  const address = server.address()
  return typeof address === "object" && address ? address.port : port
}
