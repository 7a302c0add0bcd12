// Tells the person what hooks did, as notices of the session: `vitamin run`, the terminal, editors and clients show them.
import type { Told } from "#ability/hook/fire.ts"
import { Notice } from "#engine/record/notice.ts"
import * as Bus from "#kernel/bus/bus.ts"
import type { HookEvent } from "#kernel/schema/schema.ts"
import { plainText } from "#util/plain-text.ts"

type Place = { sessionId: string; messageId: string; callId?: string; event: HookEvent; what: string }

const maxLine = 400

export function report(told: readonly Told[], place: Place): void {
  const { sessionId, messageId, callId, event, what } = place
  for (const { hook, answer } of told)
    for (const line of linesOf(answer, what)) {
      const text = plainText(`hook "${hook.name}" (${event}) ${line}`.replaceAll(/\s+/g, " "), maxLine)
      Bus.publish(Notice, { sessionId, messageId, ...(callId ? { callId } : {}), text })
    }
}

function linesOf(
  { block, ask, context, input, output, stop, message, error, isQuiet }: Told["answer"],
  what: string,
) {
  return [
    ...(error === undefined ? [] : [`failed: ${error}`]),
    ...(stop === undefined ? [] : [`stopped the turn: ${stop}`]),
    ...(block === undefined ? [] : [`blocked ${what}: ${block}`]),
    ...(ask === undefined ? [] : [`wants a person to decide about ${what}: ${ask}`]),
    ...(input === undefined ? [] : [`changed the arguments of ${what}: ${JSON.stringify(input)}`]),
    ...(output === undefined ? [] : [`changed the output of ${what}`]),
    ...(context === undefined || isQuiet ? [] : [`added context: ${context}`]),
    ...(message === undefined ? [] : [`says: ${message}`]),
  ]
}
