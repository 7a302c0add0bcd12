// Compacts the history before a request that would not fit the model's window. The code for it is loaded only then.
import { findContext } from "#engine/context/find-context.ts"
import { fixedOf, limitOf, mostAbove, mostFixed } from "#engine/run/budget.ts"
import { type Run, refuseCost } from "#engine/run/run.ts"
import * as Memory from "#knowledge/memory/memory.ts"
import { tokensOf } from "#knowledge/memory/tokens.ts"

/** A refused request was longer than the real window, which may be smaller than the stated one. */
const afterRefusal = 0.6

/** Compact the history if the next request would exceed the budget, or if the provider refused it as too long. A
 * summary can be expensive: if it exceeds the cost limit, the prompt ends. */
export async function compactIfNeeded(run: Run, refusal?: { error: unknown }): Promise<void> {
  const { system, offer, chosen, agent } = run
  const { progress } = run
  progress.limit ??= limitOf(chosen, agent.maxTokens)
  let { limit } = progress
  const memory = Memory.shortTerm(run.session.id)
  const model = `${chosen.providerId}/${chosen.modelId}`
  const exceeds = (fixed: number) => memory.shouldSummarize({ fixed, model, limit })
  // Counting the system prompt and the tools takes longer than this bound, which suffices for most requests.
  if (!refusal && !exceeds(mostFixed(system, offer.tools))) return
  const fixed = fixedOf(system, offer.tools)
  if (!refusal && !exceeds(fixed)) return
  const counted = memory.tokenCount({ fixed, model })
  const estimated = fixed + memory.window().reduce((sum, message) => sum + tokensOf(message), 0)
  if (refusal) limit = Math.min(limit, Math.floor(Math.max(counted, estimated) * afterRefusal))
  else if (counted > estimated * mostAbove && estimated <= limit) return
  const { compactHistory } = await import("./compact-history.ts")
  await compactHistory(run, { limit, fixed, cause: refusal?.error })
  // The prompt may need what was left out, so its context is collected again; but not right after a refusal.
  if (refusal) progress.limit = Math.max(limit, memory.tokenCount({ fixed, model }))
  else {
    await findContext(run)
    // The newest results took the rest of the budget, so they are cut again to fit these notes.
    if (exceeds(fixed)) await compactHistory(run, { limit, fixed })
  }
  refuseCost(run)
}
