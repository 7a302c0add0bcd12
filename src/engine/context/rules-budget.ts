// The token budget of a project's rules beside the root file: a tenth of the model's window, and never more than is
// useful. Rules that the window already has count.
import type { ModelFacts } from "#ability/provider/provider.ts"
import { contextOf } from "#engine/run/budget.ts"
import * as Memory from "#knowledge/memory/memory.ts"
import { tokensOf } from "#knowledge/memory/tokens-of.ts"
import type * as Message from "#knowledge/message/message.ts"
import { isRuleName } from "#knowledge/rules/create-nested-rules.ts"

/** In tokens. `linked`: documents for one prompt. `nested`: rules of subfolders. `each`: the most for one file. */
export type RulesBudget = { linked: number; nested: number; each: number }

const most = 8_000

export function rulesBudget(sessionId: string, facts?: Pick<ModelFacts, "context">): RulesBudget {
  const share = Math.min(most, Math.floor(contextOf(facts) / 10))
  const spent = { linked: 0, nested: 0 }
  for (const message of Memory.shortTerm(sessionId).window()) {
    const name = ruleIn(message)
    if (name !== undefined) spent[isRuleName(name) ? "nested" : "linked"] += tokensOf(message)
  }
  const left = Math.max(0, share - spent.linked - spent.nested)
  // Half is reserved for rules of subfolders, because they concern the files in work.
  const linked = Math.max(0, Math.min(share / 4, share / 2 - spent.linked, left))
  return { linked: Math.floor(linked), nested: left, each: Math.floor(share / 2) }
}

function ruleIn(message: Message.Info): string | undefined {
  if (message.type !== "text" || message.data.origin?.kind !== "rule") return undefined
  return message.data.origin.name
}
