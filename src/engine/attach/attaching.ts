// What resolving an attachment needs: permission to reach it, the model that will see it, and how to report problems
// to the person.

import { needsOf } from "#ability/call/judge-step.ts"
import type { ModelFacts } from "#ability/provider/provider.ts"
import type { Call as ToolCall } from "#ability/tool/run-tool.ts"
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
  /** Returns the context for the tool that reads the attachment; throws `Refused` if that is not allowed. Asks a person
   * if the rules say so, once for the same target. */
  permit(tool: Definition, args: unknown): Promise<Context>
  tell(text: string): void
}

class Refused extends NamedError {
  constructor(message: string) {
    // The person attached this; no tool was called.
    super("Session.AttachmentRefused", message.replace(/^"[\w-]+" was not run: /, ""))
  }
}

/** `told`: notices about this prompt that are already published. */
export function createAttaching(
  message: Message.Info,
  run: Pick<Run, "permits" | "signal" | "chosen"> & Partial<Pick<Run, "editor">> & { told?: Set<string> },
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
    ...(run.editor ? { editor: run.editor } : {}),
  }
  const call: Message.Call = { id: messageId, name: "", arguments: {}, approval: "approved" }
  return {
    context,
    facts,
    signal,
    async permit(tool, args) {
      call.name = tool.id
      const step = { call: call as ToolCall, tool, args, needs: needsOf(tool, args, context), context }
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
