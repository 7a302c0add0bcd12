// Reports how full the model's context window is, and the cost of a session so far.
import type { SessionUpdate } from "@agentclientprotocol/sdk"
import * as Provider from "#ability/provider/provider.ts"
import { contextOf } from "#engine/run/budget.ts"
import type * as Session from "#engine/session/session.ts"
import type * as Message from "#knowledge/message/message.ts"

/** How full the context window is after an answer of the model. */
export function windowAfter({ usage, model = "" }: Message.Info): { used: number; size: number } | undefined {
  if (!usage) return undefined
  const slash = model.indexOf("/")
  const facts = Provider.facts(model.slice(0, Math.max(0, slash)), model.slice(slash + 1))
  return { used: whole(usage.input + usage.output), size: whole(contextOf(facts)) }
}

export function usageUpdate(window: { used: number; size: number }, cost: number): SessionUpdate {
  return {
    sessionUpdate: "usage_update",
    ...window,
    ...(cost > 0 ? { cost: { amount: cost, currency: "USD" } } : {}),
  }
}

/** The session's record gets the cost of a turn when the turn is over; until then the cost is added up here. */
export function createUsage(send: (update: SessionUpdate) => void) {
  const counted = new Set<string>()
  let window: { used: number; size: number } | undefined
  let storedCost = 0
  let newCost = 0

  /** `isOwn` is false for messages of subtasks. A message may be passed several times and is counted once. */
  function add(message: Message.Info, { isOwn }: { isOwn: boolean }): void {
    if (!message.usage || counted.has(message.id)) return
    counted.add(message.id)
    newCost += message.usage.cost ?? 0
    if (isOwn) window = windowAfter(message)
    report()
  }

  function compacted(tokens: number): void {
    if (!window) return
    window = { ...window, used: whole(tokens) }
    report()
  }

  function settle({ status, usage }: Session.Info): void {
    storedCost = usage.cost
    if (status === "busy" || status === "waiting") return
    const hasNewCost = newCost > 0
    newCost = 0
    counted.clear()
    if (hasNewCost) report()
  }

  function report(): void {
    if (window) send(usageUpdate(window, storedCost + newCost))
  }

  return Object.freeze({ add, compacted, settle })
}

function whole(tokens: number): number {
  return Math.max(0, Math.round(tokens))
}
