// What resolving one attachment of a prompt works with: whether it may be reached, which model will see it, and how a
// person is told about it.

import { z } from "zod"
import type { ModelFacts } from "#ability/provider/provider.ts"
import { needsOf } from "#ability/tool/judge-step.ts"
import type { Grant, Refusal, Call as ToolCall } from "#ability/tool/run-tool.ts"
import type { Context, Definition } from "#ability/tool/tool.ts"
import * as Bus from "#kernel/bus.ts"
import type * as Message from "#knowledge/message/message.ts"
import type { Permits } from "./permits.ts"

export type Attaching = {
  context: Context
  facts: ModelFacts | undefined
  signal: AbortSignal
  /** As for a call of the tool that would reach it: a refusal, or what its `context` is to be widened with. A person is
   * asked where the rules say so, once for the same thing. */
  permit(tool: Definition, args: unknown): Promise<Refusal | Grant>
  tell(text: string): void
}

/** Something about an attachment that a person should know. */
export const Notice = Bus.define(
  "session.notice",
  z.object({ sessionId: z.string(), messageId: z.string(), text: z.string() }),
)

export function createAttaching(
  message: Message.Info,
  run: { permits: Permits; signal: AbortSignal; facts: ModelFacts | undefined },
): Attaching {
  const { id: messageId, sessionId } = message
  const { permits, signal, facts } = run
  const context: Context = { sessionId, messageId, callId: messageId, signal }
  const call: Message.Call = { id: messageId, name: "", arguments: {}, approval: "approved" }
  return {
    context,
    facts,
    signal,
    permit(tool, args) {
      call.name = tool.id
      const step = { call: call as ToolCall, tool, args, needs: needsOf(tool, args), context }
      return permits.permit({ request: message, call }, step)
    },
    tell: (text) => void Bus.publish(Notice, { sessionId, messageId, text }),
  }
}
