// Routes for a person who uses a session: what it fills and costs, its settings, its export, a shell line of the person.
import { z } from "zod"
import { defineRoute, type Route } from "#edge/server/http/route.ts"
import { ContextUsage, SessionCost, ShellResult, Stats } from "#edge/server/http/use-schemas.ts"
import * as Session from "#engine/session/session.ts"

const Id = z.object({ id: z.string() })
const maxCommand = 100_000
/** In milliseconds. */
const month = 30 * 24 * 60 * 60 * 1_000

export function useRoutes(): Route[] {
  return [
    defineRoute({
      id: "updateSession",
      method: "PATCH",
      role: "member",
      path: "/session/:id",
      summary:
        "Change the title, or the agent and the model that answer from the next prompt on. The session may be busy.",
      params: Id,
      body: z.object({
        title: z.string().min(1).max(500).optional(),
        agent: z.string().optional(),
        model: z.string().optional().describe("provider/model"),
      }),
      response: Session.Info,
      errors: [404, 409],
      async handle({ params: { id }, body: { title, agent, model } }) {
        await Session.get(id)
        if (agent !== undefined || model !== undefined)
          await Session.setAnswerer(id, { ...(agent ? { agent } : {}), ...(model ? { model } : {}) })
        return title === undefined ? Session.get(id) : Session.setTitle(id, title)
      },
    }),
    defineRoute({
      id: "leaveSession",
      method: "POST",
      role: "member",
      path: "/session/:id/leave",
      summary: "Say that the person left a session: hooks of SessionEnd are told. The session is kept.",
      params: Id,
      body: z.object({
        reason: z
          .enum(["clear", "resume", "prompt_input_exit", "other"])
          .describe("a new session, another session, the end of the program, anything else"),
      }),
      response: Session.Info,
      errors: [404],
      async handle({ params: { id }, body: { reason } }) {
        const session = await Session.get(id)
        await Session.leave(id, reason)
        return session
      },
    }),
    defineRoute({
      id: "getContext",
      method: "GET",
      role: "reader",
      path: "/session/:id/context",
      summary: "What fills the model's window, in tokens.",
      params: Id,
      response: ContextUsage,
      errors: [404],
      handle: ({ params }) => Session.context(params.id),
    }),
    defineRoute({
      id: "getCost",
      method: "GET",
      role: "reader",
      path: "/session/:id/cost",
      summary: "What the session and its tasks have cost: by model and agent, and by prompt.",
      params: Id,
      response: SessionCost,
      errors: [404],
      handle: ({ params }) => Session.cost(params.id),
    }),
    defineRoute({
      id: "getStats",
      method: "GET",
      role: "reader",
      path: "/stats",
      summary:
        "What the sessions of this project, or of all projects, used: by day, model, agent and tool. Without since, of the last 30 days.",
      query: z.object({
        since: z
          .string()
          .regex(/^\d{1,15}$/)
          .optional()
          .describe("in milliseconds since 1970"),
        all: z.enum(["true", "false"]).optional().describe("of all projects of this machine"),
      }),
      response: Stats,
      handle: ({ query: { since = Date.now() - month, all } }) =>
        Session.stats({ since: Number(since), everywhere: all === "true" }),
    }),
    defineRoute({
      id: "runShell",
      method: "POST",
      role: "member",
      path: "/session/:id/shell",
      summary:
        "Run a command of the person in the folder. The command and its output become a message, which the model gets with the next prompt. Answers 409 if the session is busy, or if abortSession stopped the command.",
      params: Id,
      body: z.object({
        command: z.string().min(1).max(maxCommand),
        timeout: z.number().positive().optional().describe("in milliseconds; default: two minutes"),
      }),
      response: ShellResult,
      errors: [404, 409],
      handle: ({ params, body: { command, timeout } }) =>
        Session.shell(params.id, { command, ...(timeout === undefined ? {} : { timeout }) }),
    }),
    defineRoute({
      id: "allowEdits",
      method: "POST",
      role: "member",
      path: "/session/:id/edits",
      summary:
        "Allow all edits of files in the workspace, for this session and its agent, or ask about them again. Takes effect at once. The grant is listed by listGrants.",
      params: Id,
      body: z.object({ isAllowed: z.boolean() }),
      response: z.object({ isAllowed: z.boolean() }),
      errors: [404, 409],
      handle: async ({ params, body }) => ({
        isAllowed: await Session.allowEdits(params.id, body.isAllowed),
      }),
    }),
    defineRoute({
      id: "exportSession",
      method: "GET",
      role: "reader",
      path: "/session/:id/export",
      summary: "The session with all its messages, plan and images, as `vitamin session import` takes it.",
      params: Id,
      response: z.looseObject({
        vitamin: z.literal(1),
        session: Session.Info,
        messages: z.array(z.record(z.string(), z.unknown())),
      }),
      errors: [404],
      handle: ({ params }) => Session.export(params.id) as Promise<never>,
    }),
    defineRoute({
      id: "exportMarkdown",
      method: "GET",
      role: "reader",
      path: "/session/:id/markdown",
      summary: "The active branch of a session as Markdown, for people.",
      params: Id,
      response: z.object({ text: z.string() }),
      errors: [404],
      handle: async ({ params }) => ({ text: await Session.exportMarkdown(params.id) }),
    }),
    defineRoute({
      id: "getImage",
      method: "GET",
      role: "reader",
      path: "/session/:id/image/:hash",
      summary:
        "One image of a session by the hash in its message, of at most 5 MB, for clients that show it.",
      params: z.object({ id: z.string(), hash: z.string() }),
      response: z.object({
        mimeType: z.string(),
        width: z.number(),
        height: z.number(),
        data: z.string().describe("the bytes in base64"),
      }),
      errors: [404],
      handle: ({ params }) => Session.getImage(params.id, params.hash),
    }),
  ]
}
