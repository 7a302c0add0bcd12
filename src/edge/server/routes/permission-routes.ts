// Routes for open permission requests, for the open questions of all folders, and for grants.
import { z } from "zod"
import * as Elicitation from "#ability/elicitation/elicitation.ts"
import * as Grant from "#ability/permission/grant.ts"
import * as Permission from "#ability/permission/permission.ts"
import { forbidden } from "#edge/server/http/refusal.ts"
import { defineRoute, type Route } from "#edge/server/http/route.ts"
import { Removed } from "#edge/server/http/schemas.ts"
import { checkQuestion, visibleQuestions } from "#edge/server/people/questions.ts"
import { Instance } from "#kernel/instance.ts"
import * as Person from "#kernel/person.ts"
import { about } from "#util/about.ts"

const Id = z.object({ id: z.string() })
const asked = {
  directory: about("Folder in which it is asked, and answered.", z.string()),
  time: about("When it was asked, in milliseconds since 1970.", z.number()),
}
const Question = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("permission"), ...asked, request: Permission.Request }),
  z.object({ kind: z.literal("form"), ...asked, request: Elicitation.Request }),
])
type Question = z.infer<typeof Question>
const onlyInSession = "It is allowed in this session: only an admin may allow it in the whole project."

export function permissionRoutes(): Route[] {
  return [
    defineRoute({
      id: "listPermissions",
      across: "everyone",
      method: "GET",
      role: "reader",
      path: "/permission/pending",
      summary: "The open permission requests, the oldest first.",
      response: z.array(Permission.Request),
      handle: () => visibleQuestions(Permission.pending()),
    }),
    defineRoute({
      id: "listQuestions",
      across: "everyone",
      method: "GET",
      role: "reader",
      path: "/question",
      summary:
        "The open questions of all folders: permission requests, and forms of MCP servers, the oldest first.",
      response: z.array(Question),
      instance: false,
      async handle() {
        const all = Instance.each(questionsHere).flat()
        const visible = new Set(await visibleQuestions(all.map(({ request }) => request)))
        return all.filter(({ request }) => visible.has(request)).sort((a, b) => a.time - b.time)
      },
    }),
    defineRoute({
      id: "replyPermission",
      across: "anyone",
      method: "POST",
      role: "member",
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
          .describe(
            'why "always" was taken as "once", or for this session: no rule can express the request, or only an admin may allow it in the project',
          ),
      }),
      errors: [404, 409],
      async handle({ params, body: { reply, ...details } }) {
        await checkQuestion(Permission.pending(), params.id)
        const isWide = reply === "always" && Person.limited() && details.scope !== "session" && !details.edits
        const kept = await Permission.reply(
          params.id,
          reply,
          isWide ? { ...details, scope: "session" } : details,
        )
        return { replied: true as const, ...(isWide ? { notice: onlyInSession } : {}), ...kept }
      },
    }),
    defineRoute({
      id: "listGrants",
      method: "GET",
      role: "reader",
      path: "/grant",
      summary: 'The grants of this project (replies "always" that are still valid), the oldest first.',
      response: z.array(Grant.Info),
      async handle() {
        const grants = await Grant.list()
        const visible = await visibleQuestions(grants)
        return grants.filter((grant) => grant.scope === "project" || visible.includes(grant))
      },
    }),
    defineRoute({
      id: "removeGrant",
      method: "DELETE",
      role: "member",
      path: "/grant/:id",
      summary: "Revoke a grant. Takes effect at once, for running sessions too.",
      params: Id,
      response: Removed,
      errors: [404, 409],
      async handle({ params }) {
        const grant = Person.limited() && (await Grant.list()).find(({ id }) => id === params.id)
        if (grant?.scope === "project") throw forbidden("admin", "member")
        if (grant) await checkQuestion([grant], params.id)
        await Grant.remove(params.id)
        return { removed: true as const }
      },
    }),
  ]
}

function questionsHere(): Question[] {
  const directory = Instance.place
  return [
    ...Permission.pending().map((request) => ({
      kind: "permission" as const,
      directory,
      time: request.time,
      request,
    })),
    ...Elicitation.pending().map((request) => ({
      kind: "form" as const,
      directory,
      time: request.time,
      request,
    })),
  ]
}
