// Routes for elicitations: questions of MCP servers to the person.
import { z } from "zod"
import * as Elicitation from "#ability/elicitation/elicitation.ts"
import { defineRoute, type Route } from "#edge/server/http/route.ts"

export function elicitationRoutes(): Route[] {
  return [
    defineRoute({
      id: "listElicitations",
      method: "GET",
      path: "/elicitation/pending",
      summary: "The questions of MCP servers that wait for an answer, the oldest first.",
      response: z.array(Elicitation.Request),
      handle: () => Elicitation.pending(),
    }),
    defineRoute({
      id: "replyElicitation",
      method: "POST",
      path: "/elicitation/:id/respond",
      summary:
        'Answer a server: "accept", with the content of its form, "decline", or "cancel". Content that does not fit the form is refused, and the question stays open.',
      params: z.object({ id: z.string() }),
      body: Elicitation.Reply,
      response: z.object({ replied: z.literal(true) }),
      errors: [404],
      handle({ params, body }) {
        Elicitation.reply(params.id, body)
        return { replied: true as const }
      },
    }),
  ]
}
