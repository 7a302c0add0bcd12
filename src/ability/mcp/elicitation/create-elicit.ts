// Whom a server may ask, and when: the person behind a call that is under way, as long as it is. Where no call has
// anybody behind it, the answer is no at once.

import type { ElicitationReply, Elicitation as Question } from "#ability/mcp/server/types.ts"
import type { WhileAsking } from "#ability/tool/tool.ts"
import * as Log from "#kernel/process/log.ts"
import type * as Elicitation from "./elicitation.ts"

/** The session of a call, and how to wait for its person, if one can be asked. */
export type Caller = {
  sessionId?: string | undefined
  whileAsking?: WhileAsking | undefined
  signal?: AbortSignal
}
export type Elicit = Readonly<{
  /** Makes a call in whose time the server may ask. */
  during<T>(caller: Caller, call: () => Promise<T>): Promise<T>
  onElicit(asked: Question): Promise<ElicitationReply>
}>

const most = 50

export function createElicit(server: string): Elicit {
  const callers = new Set<Caller>()
  let over = new AbortController()
  /** After one unanswered question, the same call does not wait again. */
  let isSilent = false
  /** In the time of the same calls; nobody answers more. */
  let asked = 0
  let said: string | undefined

  async function during<T>(given: Caller, call: () => Promise<T>): Promise<T> {
    const caller = { ...given }
    callers.add(caller)
    try {
      return await call()
    } finally {
      callers.delete(caller)
      if (!reachable().length) {
        over.abort()
        over = new AbortController()
        isSilent = false
        asked = 0
        said = undefined
      }
    }
  }

  async function onElicit(question: Question): Promise<ElicitationReply> {
    const from = reachable()
    if (!from.length || isSilent) return decline(isSilent ? "nobody answers" : "nobody can be asked")
    if (++asked > most) return decline(`it asked ${most} times`)
    const sessions = [...new Set(from.map(({ sessionId }) => sessionId))]
    const { ask }: typeof Elicitation = await import("./elicitation.ts")
    const sessionId = sessions.length === 1 ? sessions[0] : undefined
    const { whileAsking } = from[0]!
    const answer = await whileAsking!(({ onlyListeners }) =>
      ask({ server, sessionId, asked: question, signal: over.signal, onlyListeners }),
    )
    if (!answer) return decline("it cannot be shown")
    if (answer.by === "nobody") return decline("nobody listens for it")
    const { by, ...reply } = answer
    if (by === "time") isSilent = true
    return reply
  }

  function reachable(): Caller[] {
    return [...callers].filter(({ whileAsking }) => whileAsking)
  }

  function decline(reason: string): ElicitationReply {
    if (said !== reason) Log.warn(`a question of MCP server ${server} was declined: ${reason}`)
    said = reason
    return { action: "decline" }
  }

  return Object.freeze({ during, onElicit })
}
