// Routes for people: their tokens, the sessions that they share, and the log of what they did.
import { z } from "zod"
import { defineRoute, type Route } from "#edge/server/http/route.ts"
import { Removed } from "#edge/server/http/schemas.ts"
import * as Audit from "#edge/server/people/audit.ts"
import * as PersonalToken from "#edge/server/people/personal-token.ts"
import type { Presence } from "#edge/server/people/presence.ts"
import * as Session from "#engine/session/session.ts"
import { Role } from "#kernel/person.ts"
import { about } from "#util/about.ts"

const usualEntries = 100
const mostEntries = 10_000
const Time = z.string().regex(/^\d{1,15}$/)

/** Without `presence`, in the same process, nobody else is connected. */
export function peopleRoutes(presence?: Pick<Presence, "check">): Route[] {
  return [
    defineRoute({
      id: "listTokens",
      method: "GET",
      role: "admin",
      path: "/token",
      summary: "The people who have a personal token, with their roles. No route shows a token again.",
      response: z.array(PersonalToken.Info),
      instance: false,
      handle: () => PersonalToken.list(),
    }),
    defineRoute({
      id: "createToken",
      method: "POST",
      role: "admin",
      path: "/token",
      summary:
        "Create the personal token of somebody who has none. The answer is the only place that shows it.",
      body: z.object({
        name: PersonalToken.Name,
        role: Role,
        expires: about("In milliseconds since 1970.", z.number().int().positive().optional()),
      }),
      response: PersonalToken.Info.extend({ token: z.string() }),
      instance: false,
      errors: [409],
      handle: ({ body }) => PersonalToken.create(body),
    }),
    defineRoute({
      id: "removeToken",
      method: "DELETE",
      role: "admin",
      path: "/token/:name",
      summary:
        "Revoke the personal token of somebody. Their open streams, sockets and browsers end. Their sessions stay.",
      params: z.object({ name: z.string() }),
      response: Removed,
      instance: false,
      errors: [404],
      async handle({ params }) {
        await PersonalToken.remove(params.name)
        await presence?.check()
        return { removed: true as const }
      },
    }),
    defineRoute({
      id: "shareSession",
      method: "POST",
      role: "member",
      isOwners: true,
      path: "/session/:id/share",
      summary:
        "Share a session with a person: `reader` may look, `member` may also prompt and answer; null ends it.",
      params: z.object({ id: z.string() }),
      body: z.object({ name: PersonalToken.Name, role: z.enum(["reader", "member"]).nullable() }),
      response: Session.Info,
      errors: [404],
      async handle({ params, body: { name, role } }) {
        if (role) await PersonalToken.get(name)
        return Session.share(params.id, { name, role: role ?? undefined })
      },
    }),
    defineRoute({
      id: "listAudit",
      method: "GET",
      role: "admin",
      path: "/audit",
      summary: "What people did, the newest first. The same reading within a minute is listed once.",
      query: z.object({
        person: z.string().optional().describe("only of this person"),
        since: Time.optional().describe("in milliseconds since 1970"),
        until: Time.optional().describe("in milliseconds since 1970"),
        limit: z
          .string()
          .regex(/^[1-9]\d{0,4}$/)
          .optional()
          .describe(`how many entries, at most ${mostEntries}; default: ${usualEntries}`),
      }),
      response: z.array(Audit.Entry),
      instance: false,
      handle: ({ query: { person, since, until, limit = String(usualEntries) } }) =>
        Audit.list({
          person,
          ...(since ? { since: Number(since) } : {}),
          ...(until ? { until: Number(until) } : {}),
          limit: Math.min(Number(limit), mostEntries),
        }),
    }),
  ]
}
