// The routes that every server has: health, info, configuration, OpenAPI document.
import { createHmac } from "node:crypto"
import { z } from "zod"
import { describeRoutes } from "#edge/server/http/openapi.ts"
import { defineRoute, type Route } from "#edge/server/http/route.ts"
import { Health, Info } from "#edge/server/http/schemas.ts"
import { currentVcs } from "#engine/host/bootstrap.ts"
import * as GlobalBus from "#kernel/bus/global-bus.ts"
import { Instance } from "#kernel/instance.ts"
import * as Person from "#kernel/person.ts"
import * as Trust from "#kernel/trust/trust.ts"

export function coreRoutes(options: {
  /** What `proof` of the health route shows; a call in the same process needs none. */
  token?: string
  version: string
  config: () => unknown
  /** The number of open event streams. */
  clients: () => number
  routes: () => readonly Route[]
}): Route[] {
  const { token, version, clients } = options
  return [
    defineRoute({
      id: "getHealth",
      method: "GET",
      role: "open",
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
      instance: false,
      handle({ at, headers: { "x-vitamin-challenge": challenge } }) {
        const health = { status: "ok" as const, uptime: process.uptime() }
        if (!challenge || !at?.port || token === undefined) return health
        const proof = createHmac("sha256", token).update(`${challenge} ${at.port}`).digest("hex")
        return { ...health, proof }
      },
    }),
    defineRoute({
      id: "getInfo",
      method: "GET",
      role: "reader",
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
        clients: clients(),
        listeners: GlobalBus.listeners(),
        pid: process.pid,
        uptime: process.uptime(),
        ...personOf(Person.current()),
      }),
    }),
    defineRoute({
      id: "getConfig",
      method: "GET",
      role: "member",
      path: "/config",
      summary: "The configuration in force in the request's directory.",
      response: z.record(z.string(), z.unknown()),
      handle: async () => options.config() as Record<string, unknown>,
    }),
    defineRoute({
      id: "getOpenapi",
      method: "GET",
      role: "reader",
      path: "/openapi.json",
      summary: "This description.",
      response: z.record(z.string(), z.unknown()),
      instance: false,
      handle: ({ at }) => describeRoutes(options.routes(), { version, url: at?.origin ?? "/" }),
    }),
  ]
}

function personOf(person: Person.Person | undefined): Pick<z.infer<typeof Info>, "person"> {
  return person ? { person: { name: person.name, role: person.role } } : {}
}
