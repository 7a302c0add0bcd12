// The tool `run`: runs a prompt in a session of this folder, like `vitamin run`, and returns the answer. Nobody can be
// asked meanwhile, so calls that need a permission are denied (unless the server runs with --yes).
import { z } from "zod"
import { zodToToolSchema } from "#ability/call/zod-to-tool-schema.ts"
import type * as Permission from "#ability/permission/permission.ts"
import { createAgents } from "#edge/sandbox/agents.ts"
import { callLine } from "#engine/host/call-line.ts"
import * as Session from "#engine/session/session.ts"
import { answerText } from "#engine/turn/spawn-task.ts"
import * as Bus from "#kernel/bus/bus.ts"
import { Instance } from "#kernel/instance.ts"
import * as Secret from "#kernel/secret/secret.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { NamedError } from "#util/error.ts"

export const Parameters = z.strictObject({
  prompt: z.string().trim().min(1).describe("what to do"),
  session: z.string().min(1).optional().describe("id of the session to continue; default: a new session"),
  model: z.string().min(1).optional().describe("provider/model"),
  agent: z.string().min(1).optional().describe("id of the agent to run"),
})
export const Answer = z.object({ sessionId: z.string(), text: z.string() })
export type Answer = z.infer<typeof Answer>

/** The entry of `run` in `tools/list`. */
export const description = {
  name: "run",
  title: "Run an agent",
  description:
    "Give a task to a coding agent that works in this folder with its own tools. It answers when it is done. " +
    "To continue, pass the sessionId of its answer as `session`.",
  inputSchema: zodToToolSchema(Parameters),
  outputSchema: zodToToolSchema(Answer),
}

class Failed extends NamedError {
  constructor(sessionId: string, cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    super("Run.Failed", `${reason} (session ${sessionId})`, { sessionId }, { cause })
  }
}

export async function runPrompt(options: {
  args: z.infer<typeof Parameters>
  rules: readonly Permission.Rule[]
  yes: boolean
  signal: AbortSignal
  report(text: string): void
}): Promise<Answer> {
  const { args, signal, report } = options
  const { agent, model } = args
  const named = { ...(agent ? { agent } : {}), ...(model ? { model } : {}) }
  const session = args.session ? await projectSession(args.session) : await Session.create(named)
  const { id: sessionId } = session
  report(`session ${sessionId}`)
  const stop = Bus.subscribe(MessageStore.Created, ({ sessionId: id, message }) => {
    if (id === sessionId && message.type === "tool_result") report(callLine(message.data))
  })
  try {
    const prompt = (await createAgents({})(Instance.directory)).process({
      ...named,
      sessionId,
      text: args.prompt,
      // The prompt usually comes from another model, so `@path` in it attaches no files.
      mentionsIn: "",
      asks: options.yes ? "once" : "deny",
      rules: [...options.rules],
      signal,
    })
    const answer = await prompt.answer()
    return { sessionId, text: Secret.redact(answerText(answer)) }
  } catch (error) {
    throw new Failed(sessionId, error)
  } finally {
    stop()
  }
}

/** Throws for sessions of other projects: a client of one folder must not reach them. */
async function projectSession(sessionId: string): Promise<Session.Info> {
  const session = await Session.get(sessionId)
  if (session.projectId !== Instance.project.id) throw new Session.NotFound(sessionId)
  return session
}
