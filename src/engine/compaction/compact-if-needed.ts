// Before a request that would not fit the model's window is made, the history is compacted, by a part of the program that
// is loaded only then.

import { findContext } from "#engine/context/find-context.ts"
import { fixedOf, limitOf, mostAbove } from "#engine/run/budget.ts"
import { type Run, refuseCost } from "#engine/run/run.ts"
import * as Memory from "#knowledge/memory/memory.ts"
import { tokensOf } from "#knowledge/memory/tokens-of.ts"

/** A refused request was longer than the window, however long that is. */
const afterRefusal = 0.6

/** Make room for the next request, if there is too little of it, or the provider said so. A summary can be dear: one that
 * goes beyond what may be spent ends the work. */
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
  // What was left out may be what the work goes by. Where a provider has just refused, nothing is added.
  if (refusal) budget.limit = Math.max(budget.limit, memory.tokenCount({ fixed, model }))
  else {
    await findContext(run)
    // The newest results had all the room that was left: they make some for these notes.
    if (memory.shouldSummarize({ fixed, model, limit: budget.limit })) await compactHistory(run, budget)
  }
  refuseCost(run)
}
