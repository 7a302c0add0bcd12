// The routes that every server has: health, info, configuration, events, OpenAPI document.
import { createHmac } from "node:crypto"
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response"
import type { Context } from "hono"
import { z } from "zod"
import { createResponseSink, createStreamSink } from "#edge/server/event/event-sink.ts"
import type { EventStream } from "#edge/server/event/event-stream.ts"
import { resolveDirectory } from "#edge/server/http/directory.ts"
import { describeRoutes } from "#edge/server/http/openapi.ts"
import { type Bindings, securityHeaders } from "#edge/server/http/respond.ts"
import { defineRoute, type Route } from "#edge/server/http/route.ts"
import { Health, Info } from "#edge/server/http/schemas.ts"
import { currentVcs } from "#engine/host/bootstrap.ts"
import * as GlobalBus from "#kernel/bus/global-bus.ts"
import { Instance } from "#kernel/instance.ts"
import * as Trust from "#kernel/trust/trust.ts"

export function coreRoutes(options: {
  token: string
  version: string
  config: () => unknown
  eventStream: EventStream
  routes: () => readonly Route[]
}): Route[] {
  const { version, eventStream } = options
  return [
    defineRoute({
      id: "getHealth",
      method: "GET",
      path: "/health",
      summary: "Whether the server is up. Needs no token.",
      response: Health,
      headers: z.object({
        "x-vitamin-challenge": z
          .string()
          .regex(/^[0-9a-f]{16,64}$/)
          .optional()
          .describe("random hexadecimal digits; `proof` then shows that the server knows your token"),
      }),
      open: true,
      instance: false,
      handle({ c, headers: { "x-vitamin-challenge": challenge } }) {
        const port = c.env?.incoming?.socket.localPort
        const proof = () => createHmac("sha256", options.token).update(`${challenge} ${port}`).digest("hex")
        return {
          status: "ok" as const,
          uptime: process.uptime(),
          ...(challenge && port ? { proof: proof() } : {}),
        }
      },
    }),
    defineRoute({
      id: "getInfo",
      method: "GET",
      path: "/info",
      summary: "The server and the project of the request's directory.",
      response: Info,
      handle: async () => ({
        version,
        directory: Instance.directory,
        worktree: Instance.worktree,
        project: Instance.project,
        vcs: await currentVcs(),
        trusted: await Trust.check(Instance.directory),
        clients: eventStream.clients(),
        listeners: GlobalBus.listeners(),
        pid: process.pid,
        uptime: process.uptime(),
      }),
    }),
    defineRoute({
      id: "getConfig",
      method: "GET",
      path: "/config",
      summary: "The configuration in force in the request's directory.",
      response: z.record(z.string(), z.unknown()),
      handle: async () => options.config() as Record<string, unknown>,
    }),
    defineRoute({
      id: "followEvents",
      method: "GET",
      path: "/event",
      summary: "All events as they happen; of one directory with x-vitamin-directory. Last-Event-ID replays.",
      response: z.string(),
      headers: z.object({
        "x-vitamin-directory": z.string().optional().describe("only the events of this folder"),
        "last-event-id": z.string().optional().describe("send everything after this id first"),
      }),
      contentType: "text/event-stream",
      instance: false,
      handle({ c, headers }) {
        const directory = headers["x-vitamin-directory"]
        return eventResponse(
          c,
          eventStream,
          directory === undefined ? undefined : resolveDirectory(directory),
        )
      },
    }),
    defineRoute({
      id: "getOpenapi",
      method: "GET",
      path: "/openapi.json",
      summary: "This description.",
      response: z.record(z.string(), z.unknown()),
      instance: false,
      handle: ({ c }) => describeRoutes(options.routes(), { version, url: new URL(c.req.url).origin }),
    }),
  ]
}

/** The response of GET /event: headers, then events until the client disconnects. With a directory, only events of that
 * directory. */
function eventResponse(
  c: Context<{ Bindings: Bindings }>,
  stream: EventStream,
  directory: string | undefined,
): Response {
  const headers = () => ({
    ...securityHeaders,
    "content-type": "text/event-stream; charset=utf-8",
    "x-accel-buffering": "no",
    "x-vitamin-cursor": String(stream.lastId()),
  })
  const request = { lastEventId: c.req.header("last-event-id")?.trim() || undefined, directory }
  const response = c.env?.outgoing
  if (response) {
    stream.open((events) => {
      response.writeHead(200, headers())
      return createResponseSink(response, events)
    }, request)
    return RESPONSE_ALREADY_SENT
  }
  let body: ReadableStream<Uint8Array> | undefined
  stream.open((events) => {
    const made = createStreamSink(events)
    body = made.body
    return made.sink
  }, request)
  return new Response(body ?? null, { headers: headers() })
}
