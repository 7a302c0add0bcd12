// Routes for open permission requests and for grants.
import { z } from "zod"
import * as Grant from "#ability/permission/grant.ts"
import * as Permission from "#ability/permission/permission.ts"
import { defineRoute, type Route } from "#edge/server/http/route.ts"
import { Removed } from "#edge/server/http/schemas.ts"

const Id = z.object({ id: z.string() })

export function permissionRoutes(): Route[] {
  return [
    defineRoute({
      id: "listPermissions",
      method: "GET",
      path: "/permission/pending",
      summary: "The open permission requests, the oldest first.",
      response: z.array(Permission.Request),
      handle: () => Permission.pending(),
    }),
    defineRoute({
      id: "replyPermission",
      method: "POST",
      path: "/permission/:id/respond",
      summary:
        'Reply to a permission request: "once", "always" (stores its rules for the agent, in the project or, with scope "session", in the session), or "reject". The message of a rejection is sent to the model.',
      params: Id,
      body: Permission.Details.extend({ reply: Permission.Reply }),
      response: z.object({
        replied: z.literal(true),
        notice: z
          .string()
          .optional()
          .describe('why "always" was taken as "once": no rule can express the request'),
      }),
      errors: [404, 409],
      async handle({ params, body: { reply, ...details } }) {
        return { replied: true as const, ...(await Permission.reply(params.id, reply, details)) }
      },
    }),
    defineRoute({
      id: "listGrants",
      method: "GET",
      path: "/grant",
      summary: 'The grants of this project (replies "always" that are still valid), the oldest first.',
      response: z.array(Grant.Info),
      handle: () => Grant.list(),
    }),
    defineRoute({
      id: "removeGrant",
      method: "DELETE",
      path: "/grant/:id",
      summary: "Revoke a grant. Takes effect at once, for running sessions too.",
      params: Id,
      response: Removed,
      errors: [404, 409],
      async handle({ params }) {
        await Grant.remove(params.id)
        return { removed: true as const }
      },
    }),
  ]
}
