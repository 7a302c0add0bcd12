// Decides whether a server may ask: only the person behind a running call, and only while the call runs. If no running call
// has a person behind it, the question is declined at once.
import type { WhileAsking } from "#ability/call/types.ts"
import * as Log from "#kernel/process/log.ts"
import type * as Elicitation from "./elicitation.ts"

/** The session of a call, and how to wait for its person, if one can be asked. */
export type Caller = {
  sessionId?: string | undefined
  whileAsking?: WhileAsking | undefined
  signal?: AbortSignal
}
export type Elicit = Readonly<{
  /** Runs a call, during which the server may ask. */
  during<T>(caller: Caller, call: () => Promise<T>): Promise<T>
  onElicit(question: Elicitation.Question): Promise<Elicitation.Reply>
}>

/** The most questions during one call. */
const most = 50

export function createElicit(server: string): Elicit {
  const callers = new Set<Caller>()
  let over = new AbortController()
  /** After one unanswered question, the same call does not wait again. */
  let isSilent = false
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

  async function onElicit(question: Elicitation.Question): Promise<Elicitation.Reply> {
    const from = reachable()
    if (!from.length || isSilent) return decline(isSilent ? "nobody answers" : "nobody can be asked")
    if (++asked > most) return decline(`it asked ${most} times`)
    const sessions = [...new Set(from.map(({ sessionId }) => sessionId))]
    const { ask }: typeof Elicitation = await import("./elicitation.ts")
    const sessionId = sessions.length === 1 ? sessions[0] : undefined
    const { whileAsking } = from[0]!
    const answer = await whileAsking!(({ onlyListeners }) =>
      ask({ server, sessionId, question, signal: over.signal, onlyListeners }),
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

  function decline(reason: string): Elicitation.Reply {
    if (said !== reason) Log.warn(`a question of MCP server ${server} was declined: ${reason}`)
    said = reason
    return { action: "decline" }
  }

  return Object.freeze({ during, onElicit })
}
