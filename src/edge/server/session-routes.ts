// Sessions over HTTP.
import { z } from "zod"
import * as Session from "#engine/session/session.ts"
import * as Message from "#knowledge/message/message.ts"
import { jsonResponse } from "./respond.ts"
import { defineRoute, type Route } from "./route.ts"

const Id = z.object({ id: z.string() })
const Part = z.object({ type: z.literal("text"), text: z.string() })
const Prompt = z.object({
  text: z.string().optional(),
  parts: z.array(Part).optional(),
  agent: z.string().optional(),
  model: z.string().optional().describe("provider/model"),
  whenBusy: z.enum(["queue", "refuse"]).optional(),
  maxSteps: z.number().int().positive().optional(),
  maxCost: z.number().positive().optional().describe("in US dollars"),
  timeout: z.number().positive().optional().describe("in milliseconds"),
})

export function sessionRoutes(): Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/session",
      summary: "The sessions of the project, the one used last first.",
      response: z.array(Session.Info),
      handle: () => Session.list(),
    }),
    defineRoute({
      method: "POST",
      path: "/session",
      summary: "A new session.",
      body: z.object({
        agent: z.string().optional(),
        model: z.string().optional(),
        title: z.string().optional(),
        metadata: z.record(z.string(), z.unknown()).optional(),
      }),
      response: Session.Info,
      handle: ({ body }) => Session.create(defined(body)),
    }),
    defineRoute({
      method: "GET",
      path: "/session/:id",
      summary: "One session.",
      params: Id,
      response: Session.Info,
      handle: ({ params }) => Session.get(params.id),
    }),
    defineRoute({
      method: "DELETE",
      path: "/session/:id",
      summary: "Remove a session and its messages.",
      params: Id,
      response: z.object({ removed: z.literal(true) }),
      async handle({ params }) {
        Session.abort(params.id)
        await Session.remove(params.id)
        return { removed: true as const }
      },
    }),
    defineRoute({
      method: "GET",
      path: "/session/:id/message",
      summary: "The messages of a session: of its active branch, of another one, or all.",
      params: Id,
      query: z.object({ branch: z.string().optional(), all: z.string().optional() }),
      response: z.array(Message.Info),
      handle: ({ params, query }) =>
        Session.messages(params.id, {
          ...(query.branch ? { branch: query.branch } : {}),
          all: query.all === "true",
        }),
    }),
    defineRoute({
      method: "POST",
      path: "/session/:id/message",
      summary:
        "Prompt a session. Answers when the turn is over; with Prefer: respond-async at once, with 202.",
      params: Id,
      body: Prompt,
      response: Message.Info,
      async handle({ params, body, c }) {
        await Session.get(params.id)
        const input = { ...defined(body), sessionId: params.id }
        if (!/\brespond-async\b/.test(c.req.header("prefer") ?? "")) return Session.prompt(input)
        // What goes wrong from here on is kept in the session and published.
        Session.prompt(input).catch(() => {})
        return jsonResponse({ sessionId: params.id, accepted: true }, { status: 202 })
      },
    }),
    defineRoute({
      method: "POST",
      path: "/session/:id/fork",
      summary: "A new session with the messages up to and with one.",
      params: Id,
      body: z.object({ messageId: z.string().optional() }),
      response: Session.Info,
      handle: ({ params, body }) => Session.fork(params.id, body.messageId),
    }),
    defineRoute({
      method: "POST",
      path: "/session/:id/abort",
      summary: "Stop what a session is doing.",
      params: Id,
      response: z.object({ aborted: z.boolean() }),
      async handle({ params }) {
        await Session.get(params.id)
        return { aborted: Session.abort(params.id) }
      },
    }),
  ]
}

/** Without the keys that were left out, which a schema gives as undefined. */
function defined<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as never
}
