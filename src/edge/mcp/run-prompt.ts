// The tool `run`: a prompt for a session of this folder, as `vitamin run` takes it; the answer comes back when the session
// is done. Nobody can be asked on the way, so what would need that is denied.

import { z } from "zod"
import { zodToToolSchema } from "#ability/call/zod-to-tool-schema.ts"
import type * as Permission from "#ability/permission/permission.ts"
import { createAgent } from "#engine/host/create-agent.ts"
import * as Session from "#engine/session/session.ts"
import { answerText } from "#engine/turn/spawn-task.ts"
import * as Bus from "#kernel/bus/bus.ts"
import { Instance } from "#kernel/instance.ts"
import * as Log from "#kernel/process/log.ts"
import * as Secret from "#kernel/process/secret.ts"
import type * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { NamedError } from "#util/error.ts"

export const Parameters = z.strictObject({
  prompt: z.string().trim().min(1).describe("what to do"),
  session: z.string().min(1).optional().describe("go on with this session; default: a new one"),
  model: z.string().min(1).optional().describe("provider/model"),
  agent: z.string().min(1).optional().describe("who does it"),
})
export const Answer = z.object({ sessionId: z.string(), text: z.string() })
export type Answer = z.infer<typeof Answer>

/** As `tools/list` shows it. */
export const description = {
  name: "run",
  title: "Run an agent",
  description:
    "Give a task to a coding agent that works in this folder with its own tools. It answers when it is done; " +
    "pass the sessionId of its answer as `session` to go on.",
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
  const session = args.session ? await known(args.session) : await Session.create(named)
  const { id: sessionId } = session
  report(`session ${sessionId}`)
  const stop = Bus.subscribe(MessageStore.Created, ({ sessionId: id, message }) => {
    if (id === sessionId && message.type === "tool_result") report(lineOf(message.data))
  })
  try {
    const prompt = (await createAgent({ directory: Instance.directory })).process({
      ...named,
      sessionId,
      text: args.prompt,
      // It comes from another model as a rule: what it points at, it has to name to a tool.
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

/** Of this project: who may work in one folder has no say in others. */
async function known(sessionId: string): Promise<Session.Info> {
  const session = await Session.get(sessionId)
  if (session.projectId !== Instance.project.id) throw new Session.NotFound(sessionId)
  return session
}

function lineOf({ toolName, status, metadata, error }: Message.Of<"tool_result">["data"]): string {
  const title = status === "success" ? metadata?.title : error?.message.split("\n", 1)[0]
  return Log.escapeControls(
    `${status === "success" ? "·" : "✗"} ${toolName} ${typeof title === "string" ? title : ""}`.slice(0, 160),
  ).trim()
}
