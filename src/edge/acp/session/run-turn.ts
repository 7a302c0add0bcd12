// Runs one prompt of a client and returns why it ended. A stop by the client is no error.

import type { ContentBlock, StopReason } from "@agentclientprotocol/sdk"
import type * as Permission from "#ability/permission/permission.ts"
import { InvalidParams } from "#edge/acp/wire/errors.ts"
import { createAgent } from "#engine/host/create-agent.ts"
import * as Session from "#engine/session/session.ts"
import { Instance } from "#kernel/instance.ts"
import type * as Message from "#knowledge/message/message.ts"
import { NamedError } from "#util/error.ts"
import { promptParts } from "./prompt-parts.ts"

/** Of the person, for as long as the process runs. */
export type PersonOptions = {
  rules: readonly Permission.Rule[]
  yes: boolean
  model?: string | undefined
  agent?: string | undefined
}

/** An editor keeps a question open, and its person may be away, so it waits as long as a timer can. */
const replyLimit = 2 ** 31 - 1
const ofFinish: Record<string, StopReason> = { length: "max_tokens", "content-filter": "refusal" }

/** To be called inside the instance of the session's folder. */
export async function runTurn(turn: {
  sessionId: string
  blocks: readonly ContentBlock[]
  person: PersonOptions
  signal: AbortSignal
  /** Its record, if it had to wait. */
  stored?: Session.PromptHandle | undefined
}): Promise<StopReason> {
  const { sessionId, person, signal, stored } = turn
  try {
    const { words, mentionsIn, attached } = promptParts(turn.blocks)
    const agent = await createAgent({ directory: Instance.directory })
    const prompt = agent.process({
      sessionId,
      parts: [{ type: "text", text: words }, ...attached],
      mentionsIn,
      asks: person.yes ? "once" : "wait",
      rules: [...person.rules],
      replyLimit,
      signal,
      stored,
    })
    const answer = await prompt.answer()
    return signal.aborted ? "cancelled" : reasonOf(answer)
  } catch (error) {
    const reason = signal.aborted ? "cancelled" : reasonIn(error)
    if (reason) return reason
    throw error
  }
}

/** Store a prompt that has to wait for others of its client. One that cannot be read fails when its turn comes. */
export function storeTurn(
  sessionId: string,
  blocks: readonly ContentBlock[],
): Session.PromptHandle | undefined {
  try {
    const { words, attached } = promptParts(blocks)
    return Session.storePrompt({ sessionId, parts: [{ type: "text", text: words }, ...attached] })
  } catch (error) {
    if (error instanceof InvalidParams) return undefined
    throw error
  }
}

function reasonOf(answer: Message.Info): StopReason {
  const finish = answer.type === "text" ? answer.data.finish : undefined
  return ofFinish[finish ?? ""] ?? "end_turn"
}

/** Those that the protocol has a word for. */
function reasonIn(error: unknown): StopReason | undefined {
  if (error instanceof Session.Interrupted) return "cancelled"
  if (!(error instanceof NamedError)) return undefined
  if (error.name === "Session.StepLimit") return "max_turn_requests"
  return ofFinish[String(error.data.finish)]
}
