// The fill level of the model's window, and the cost of a session so far.
import type { SessionUpdate } from "@agentclientprotocol/sdk"
import * as Provider from "#ability/provider/provider.ts"
import { contextOf } from "#engine/run/budget.ts"
import type * as Session from "#engine/session/session.ts"
import type * as Message from "#knowledge/message/message.ts"

/** The window as an answer of the model found it and left it. */
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

/** The costs of a turn are in the session's record when it is over; until then they are added up here. */
export function createUsage(send: (update: SessionUpdate) => void) {
  const counted = new Set<string>()
  let window: { used: number; size: number } | undefined
  let before = 0
  let since = 0

  /** `isOwn`: of the session itself; others work for it. A message may come several times. */
  function add(message: Message.Info, { isOwn }: { isOwn: boolean }): void {
    if (!message.usage || counted.has(message.id)) return
    counted.add(message.id)
    since += message.usage.cost ?? 0
    if (isOwn) window = windowAfter(message)
    report()
  }

  function compacted(tokens: number): void {
    if (!window) return
    window = { ...window, used: whole(tokens) }
    report()
  }

  function settle({ status, usage }: Session.Info): void {
    before = usage.cost
    if (status === "busy" || status === "waiting") return
    const isNews = since > 0
    since = 0
    counted.clear()
    if (isNews) report()
  }

  function report(): void {
    if (window) send(usageUpdate(window, before + since))
  }

  return Object.freeze({ add, compacted, settle })
}

function whole(tokens: number): number {
  return Math.max(0, Math.round(tokens))
}
