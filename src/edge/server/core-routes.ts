// The routes that every server has: how it is, where it runs, its configuration, its events, its own description.
import { z } from "zod"
import { currentVcs } from "#engine/host/bootstrap.ts"
import * as GlobalBus from "#kernel/global-bus.ts"
import { Instance } from "#kernel/instance.ts"
import * as Trust from "#kernel/trust.ts"
import { resolveDirectory } from "./directory.ts"
import { eventResponse } from "./event-response.ts"
import type { EventStream } from "./event-stream.ts"
import { describeRoutes } from "./openapi.ts"
import { defineRoute, type Route } from "./route.ts"

const Health = z.object({ status: z.literal("ok"), uptime: z.number().describe("seconds") })

const Info = z.object({
  version: z.string(),
  directory: z.string(),
  worktree: z.string(),
  project: z.object({ id: z.string(), name: z.string() }),
  vcs: z
    .object({ type: z.literal("git"), branch: z.string().optional(), commit: z.string().optional() })
    .optional(),
  trusted: z.boolean(),
  clients: z.number().int().describe("open event streams"),
  listeners: z.number().int().describe("subscribers to the events of all directories"),
  pid: z.number().int(),
  uptime: z.number().describe("seconds"),
})

export function coreRoutes(options: {
  version: string
  config: () => unknown
  eventStream: EventStream
  routes: () => readonly Route[]
}): Route[] {
  const { version, eventStream } = options
  return [
    defineRoute({
      method: "GET",
      path: "/health",
      summary: "Whether the server is up. Needs no token.",
      response: Health,
      open: true,
      instance: false,
      handle: () => ({ status: "ok" as const, uptime: process.uptime() }),
    }),
    defineRoute({
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
      method: "GET",
      path: "/config",
      summary: "The configuration in force in the request's directory.",
      response: z.unknown(),
      handle: async () => options.config(),
    }),
    defineRoute({
      method: "GET",
      path: "/event",
      summary: "All events as they happen; of one directory with x-vitamin-directory. Last-Event-ID replays.",
      response: z.string(),
      contentType: "text/event-stream",
      instance: false,
      handle({ c }) {
        const directory = c.req.header("x-vitamin-directory")
        return eventResponse(
          c,
          eventStream,
          directory === undefined ? undefined : resolveDirectory(directory),
        )
      },
    }),
    defineRoute({
      method: "GET",
      path: "/openapi.json",
      summary: "This description.",
      response: z.record(z.string(), z.unknown()),
      instance: false,
      handle: () => describeRoutes(options.routes(), version),
    }),
  ]
}
