// Routes for elicitations: questions of MCP servers to the person.
import { z } from "zod"
import * as Elicitation from "#ability/elicitation/elicitation.ts"
import { defineRoute, type Route } from "#edge/server/http/route.ts"
import { checkQuestion, visibleQuestions } from "#edge/server/people/questions.ts"

export function elicitationRoutes(): Route[] {
  return [
    defineRoute({
      id: "listElicitations",
      across: "everyone",
      method: "GET",
      role: "reader",
      path: "/elicitation/pending",
      summary: "The questions of MCP servers that wait for an answer, the oldest first.",
      response: z.array(Elicitation.Request),
      handle: () => visibleQuestions(Elicitation.pending()),
    }),
    defineRoute({
      id: "replyElicitation",
      across: "anyone",
      method: "POST",
      role: "member",
      path: "/elicitation/:id/respond",
      summary:
        'Answer a server: "accept", with the content of its form, "decline", or "cancel". Content that does not fit the form is refused, and the question stays open.',
      params: z.object({ id: z.string() }),
      body: Elicitation.Reply,
      response: z.object({ replied: z.literal(true) }),
      errors: [404],
      async handle({ params, body }) {
        await checkQuestion(Elicitation.pending(), params.id)
        Elicitation.reply(params.id, body)
        return { replied: true as const }
      },
    }),
  ]
}
