// Open permission questions and grants over HTTP.
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
      summary: "The questions that wait for an answer, the oldest first.",
      response: z.array(Permission.Request),
      handle: () => Permission.pending(),
    }),
    defineRoute({
      id: "replyPermission",
      method: "POST",
      path: "/permission/:id/respond",
      summary:
        'Answer a question: "once", "always" (its rules then hold for its agents, in the project or, with scope "session", in the session), or "reject". A message to a rejection reaches the model.',
      params: Id,
      body: Permission.Details.extend({ reply: Permission.Reply }),
      response: z.object({
        replied: z.literal(true),
        notice: z
          .string()
          .optional()
          .describe('why "always" counts as "once": no rule can allow it for good'),
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
      summary: 'What was answered with "always" in this project and still holds, the oldest first.',
      response: z.array(Grant.Info),
      handle: () => Grant.list(),
    }),
    defineRoute({
      id: "removeGrant",
      method: "DELETE",
      path: "/grant/:id",
      summary: "Take a grant back. It counts at once, also for what is at work.",
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
