// Compacts the history before a request that would not fit the model's window. The code for it is loaded only then.

import { findContext } from "#engine/context/find-context.ts"
import { fixedOf, limitOf, mostAbove } from "#engine/run/budget.ts"
import { type Run, refuseCost } from "#engine/run/run.ts"
import * as Memory from "#knowledge/memory/memory.ts"
import { tokensOf } from "#knowledge/memory/tokens-of.ts"

/** A refused request was longer than the real window, which may be smaller than the stated one. */
const afterRefusal = 0.6

/** Compact the history if the next request would exceed the budget, or if the provider refused it as too long. A
 * summary can be expensive: if it exceeds the cost limit, the prompt ends. */
export async function compactIfNeeded(run: Run, refusal?: { error: unknown }): Promise<void> {
  const { system, offer, chosen, agent } = run
  run.progress.budget ??= { limit: limitOf(chosen, agent.maxTokens), fixed: fixedOf(system, offer.tools) }
  const { budget } = run.progress
  const { fixed } = budget
  const memory = Memory.shortTerm(run.session.id)
  const model = `${chosen.providerId}/${chosen.modelId}`
  if (!refusal && !memory.shouldSummarize({ fixed, model, limit: budget.limit })) return
  const counted = memory.tokenCount({ fixed, model })
  const estimated = fixed + memory.window().reduce((sum, message) => sum + tokensOf(message), 0)
  if (refusal) budget.limit = Math.min(budget.limit, Math.floor(Math.max(counted, estimated) * afterRefusal))
  else if (counted > estimated * mostAbove && estimated <= budget.limit) return
  const { compactHistory } = await import("./compact-history.ts")
  await compactHistory(run, { ...budget, cause: refusal?.error })
  // The prompt may need what was left out, so its context is collected again; but not right after a refusal.
  if (refusal) budget.limit = Math.max(budget.limit, memory.tokenCount({ fixed, model }))
  else {
    await findContext(run)
    // The newest results took the rest of the budget, so they are cut again to fit these notes.
    if (memory.shouldSummarize({ fixed, model, limit: budget.limit })) await compactHistory(run, budget)
  }
  refuseCost(run)
}
