// What resolving one attachment of a prompt works with: whether it may be reached, which model will see it, and how a
// person is told about it.
import type { ModelFacts } from "#ability/provider/provider.ts"
import type { Call as ToolCall } from "#ability/tool/gate/run-tool.ts"
import { needsOf } from "#ability/tool/judge/judge-step.ts"
import type { Context, Definition } from "#ability/tool/tool.ts"
import { Notice } from "#engine/record/notice.ts"
import { whoCanBeAsked } from "#engine/rights/permits.ts"
import type { Run } from "#engine/run/run.ts"
import * as Bus from "#kernel/bus/bus.ts"
import type * as Message from "#knowledge/message/message.ts"
import { NamedError } from "#util/error.ts"

export type Attaching = {
  context: Context
  facts: ModelFacts | undefined
  signal: AbortSignal
  /** The context of a call of the tool that would reach it, with what is allowed; throws `Refused`. A person is asked
   * where the rules say so, once for the same thing. */
  permit(tool: Definition, args: unknown): Promise<Context>
  tell(text: string): void
}

class Refused extends NamedError {
  constructor(message: string) {
    // The person attached this; no tool was called.
    super("Session.AttachmentRefused", message.replace(/^"[\w-]+" was not run: /, ""))
  }
}

/** `told`: what was said for others of the same prompt, and need not be said again. */
export function createAttaching(
  message: Message.Info,
  run: Pick<Run, "permits" | "signal" | "chosen"> & { told?: Set<string> },
): Attaching {
  const { id: messageId, sessionId } = message
  const { permits, signal, told = new Set() } = run
  const { facts } = run.chosen
  const context: Context = {
    sessionId,
    messageId,
    callId: messageId,
    signal,
    ...whoCanBeAsked(permits),
  }
  const call: Message.Call = { id: messageId, name: "", arguments: {}, approval: "approved" }
  return {
    context,
    facts,
    signal,
    async permit(tool, args) {
      call.name = tool.id
      const step = { call: call as ToolCall, tool, args, needs: needsOf(tool, args), context }
      const verdict = await permits.permit({ request: message, call }, step)
      if ("message" in verdict) throw new Refused(verdict.message)
      return { ...context, ...verdict }
    },
    tell(text) {
      if (!told.has(text)) Bus.publish(Notice, { sessionId, messageId, text })
      told.add(text)
    },
  }
}
