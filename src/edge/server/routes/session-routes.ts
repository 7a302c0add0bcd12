// Routes for sessions: their messages, prompts, branches and plan.
import { z } from "zod"
import * as Permission from "#ability/permission/permission.ts"
import { accept, defineRoute, type Route } from "#edge/server/http/route.ts"
import { Accepted, Prompt, Removed } from "#edge/server/http/schemas.ts"
import type { AgentSource } from "#engine/host/agent-adapter.ts"
import * as Session from "#engine/session/session.ts"
import { Instance } from "#kernel/instance.ts"
import * as Message from "#knowledge/message/message.ts"

/** Enough for the largest image in base64, and text. */
const promptLimit = 28 << 20
const Id = z.object({ id: z.string() })
const Switch = z.enum(["true", "false"]).optional()

/** `agentFor` gives the agent that runs the prompts of a folder. */
export function sessionRoutes(agentFor: AgentSource): Route[] {
  return [
    defineRoute({
      id: "listSessions",
      method: "GET",
      role: "reader",
      path: "/session",
      summary:
        "The sessions of the project, last used first; with tasks=true also sessions of subtasks, with everywhere=true those of all projects.",
      query: z.object({
        tasks: Switch,
        everywhere: Switch,
        limit: z
          .string()
          .regex(/^[1-9]\d{0,4}$/)
          .optional()
          .describe("so many, the last used; default: all"),
      }),
      response: z.array(Session.Info),
      handle: ({ query }) =>
        Session.list({
          tasks: query.tasks === "true",
          everywhere: query.everywhere === "true",
          limit: query.limit === undefined ? undefined : Number(query.limit),
        }),
    }),
    defineRoute({
      id: "createSession",
      method: "POST",
      role: "member",
      path: "/session",
      summary: "Create a session.",
      body: z.object({
        agent: z.string().optional(),
        model: z.string().optional(),
        title: z.string().optional(),
        metadata: z.record(z.string(), z.unknown()).optional(),
      }),
      response: Session.Info,
      errors: [404, 409],
      handle: ({ body }) => Session.create(defined(body)),
    }),
    defineRoute({
      id: "getSession",
      method: "GET",
      role: "reader",
      path: "/session/:id",
      summary: "One session.",
      params: Id,
      response: Session.Info,
      errors: [404],
      handle: ({ params }) => Session.get(params.id),
    }),
    defineRoute({
      id: "listTasks",
      method: "GET",
      role: "reader",
      path: "/session/:id/task",
      summary: "The sessions that do tasks for a session, the oldest first.",
      params: Id,
      response: z.array(Session.Info),
      errors: [404],
      handle: ({ params }) => Session.tasks(params.id),
    }),
    defineRoute({
      id: "removeSession",
      across: "holder",
      method: "DELETE",
      role: "member",
      isOwners: true,
      path: "/session/:id",
      summary: "Remove a session and its messages.",
      params: Id,
      response: Removed,
      errors: [404, 409],
      async handle({ params }) {
        Session.abort(params.id)
        await Session.remove(params.id)
        return { removed: true as const }
      },
    }),
    defineRoute({
      id: "listMessages",
      method: "GET",
      role: "reader",
      path: "/session/:id/message",
      summary: "The messages of a session: of the active branch, of another branch, or all.",
      params: Id,
      query: z.object({
        branch: z.string().optional(),
        all: Switch,
        last: z
          .string()
          .regex(/^[1-9]\d{0,8}$/)
          .optional()
          .describe("only so many messages, the newest"),
        before: z.string().optional().describe("only messages that lead to this one"),
      }),
      response: z.array(Message.Info),
      errors: [404],
      handle: ({ params, query }) =>
        Session.messages(params.id, {
          ...(query.branch ? { branch: query.branch } : {}),
          all: query.all === "true",
          ...(query.last ? { last: Number(query.last) } : {}),
          ...(query.before ? { before: query.before } : {}),
        }),
    }),
    defineRoute({
      id: "promptSession",
      method: "POST",
      role: "member",
      path: "/session/:id/message",
      summary:
        "Prompt a session. Answers when the turn is over, with 409 if it was stopped before its end, and with 429 if too many prompts are waiting. With Prefer: respond-async it answers 202 as soon as the prompt is stored; from then on the prompt is not lost. When the prompt starts, its first message has the promptId. If it cannot run, it is reported with session.error or prompt.skipped, and listed under `skipped` in the session.",
      params: Id,
      headers: z.object({
        prefer: z.string().optional().describe("`respond-async`: answer with 202 once the prompt is stored"),
        traceparent: z
          .string()
          .optional()
          .describe("the caller's trace, which the prompt continues if telemetry is on"),
      }),
      body: Prompt,
      bodyLimit: promptLimit,
      response: Message.Info,
      accepted: Accepted,
      errors: [404, 409, 429],
      async handle({ params, headers, body }) {
        await Session.get(params.id)
        const { allow, deny, ...rest } = body
        const rules = rulesOf({ allow, deny })
        const own = rules.length ? { rules } : {}
        // Wait for replies even if no client follows events: a client may poll GET /permission/pending.
        const otherwise = { asks: "wait" as const }
        const { traceparent } = headers
        const input = { ...defined({ ...rest, traceparent }), ...own, otherwise, sessionId: params.id }
        const prompt = (await agentFor(Instance.directory)).process(input)
        if (!/\brespond-async\b/.test(headers.prefer ?? "")) return prompt.answer()
        const { promptId } = await prompt.accept()
        return accept({ sessionId: params.id, accepted: true as const, promptId })
      },
    }),
    defineRoute({
      id: "listPrompts",
      method: "GET",
      role: "reader",
      path: "/session/:id/prompt",
      summary: "The accepted prompts of a session that have not started: waiting and skipped ones.",
      params: Id,
      response: z.array(Session.WaitingPrompt),
      errors: [404],
      async handle({ params }) {
        await Session.get(params.id)
        return Session.prompts(params.id)
      },
    }),
    defineRoute({
      id: "removePrompt",
      across: "holder",
      method: "DELETE",
      role: "member",
      path: "/session/:id/prompt/:promptId",
      summary: "Remove a waiting or skipped prompt. Answers 409 for a prompt that has started.",
      params: z.object({ id: z.string(), promptId: z.string() }),
      response: Removed,
      errors: [404, 409],
      async handle({ params }) {
        await Session.removePrompt(params.id, params.promptId)
        return { removed: true as const }
      },
    }),
    defineRoute({
      id: "forkSession",
      method: "POST",
      role: "member",
      path: "/session/:id/fork",
      summary: "Create a session with the messages up to and including one.",
      params: Id,
      body: z.object({ messageId: z.string().optional() }),
      response: Session.Info,
      errors: [404, 409],
      handle: ({ params, body }) => Session.fork(params.id, body.messageId),
    }),
    defineRoute({
      id: "setMode",
      method: "POST",
      role: "member",
      path: "/session/:id/mode",
      summary: "Set the mode: plan (changes nothing) or act. Takes effect with the next prompt.",
      params: Id,
      body: z.object({ mode: z.enum(["plan", "act"]) }),
      response: Session.Info,
      errors: [404, 409],
      handle: ({ params, body }) => Session.setMode(params.id, body.mode),
    }),
    defineRoute({
      id: "compactSession",
      method: "POST",
      role: "member",
      path: "/session/:id/compact",
      summary:
        "Compact a session: the model gets a summary instead of the older messages, which stay stored.",
      params: Id,
      response: Session.Info,
      errors: [404, 409],
      handle: ({ params }) => Session.compact(params.id),
    }),
    defineRoute({
      id: "getPlan",
      method: "GET",
      role: "reader",
      path: "/session/:id/plan",
      summary:
        "The plan of a session as relations: steps with their dependencies, changed files, sessions of subtasks.",
      params: Id,
      response: Session.Plan,
      errors: [404],
      handle: ({ params }) => Session.plan(params.id),
    }),
    defineRoute({
      id: "listBranches",
      method: "GET",
      role: "reader",
      path: "/session/:id/branch",
      summary: "The branches of a session.",
      params: Id,
      response: z.array(Session.Branch),
      errors: [404],
      handle: ({ params }) => Session.branches(params.id),
    }),
    defineRoute({
      id: "switchBranch",
      method: "POST",
      role: "member",
      path: "/session/:id/branch",
      summary: "Switch to a branch; creates it if it does not exist.",
      params: Id,
      body: z.object({
        name: z.string(),
        from: z
          .string()
          .nullable()
          .optional()
          .describe(
            "the message at which a new branch starts; default: the last message of the active branch; null: before the first message",
          ),
      }),
      response: Session.Info,
      errors: [404, 409],
      handle: ({ params, body: { name, from } }) => Session.branch(params.id, name, { from }),
    }),
    defineRoute({
      id: "abortSession",
      across: "holder",
      method: "POST",
      role: "member",
      path: "/session/:id/abort",
      summary: "Abort the running prompt of a session, and the waiting ones.",
      params: Id,
      response: z.object({ aborted: z.boolean() }),
      errors: [404],
      async handle({ params }) {
        const hadJobs = await Session.removeJobs(await Session.get(params.id))
        return { aborted: Session.abort(params.id) || hadJobs }
      },
    }),
  ]
}

/** Deny rules come last, so they win. Throws `InvalidRule`. */
function rulesOf({ allow = [], deny = [] }: Pick<z.output<typeof Prompt>, "allow" | "deny">) {
  const parse = (action: "allow" | "deny") => (text: string) => Permission.parseRule(text, action)
  return [...allow.map(parse("allow")), ...deny.map(parse("deny"))]
}

/** Removes keys whose value is undefined, which the schema adds for omitted keys. */
function defined<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as never
}
