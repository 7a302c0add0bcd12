// Compaction on request: the same as a prompt does when the window is nearly full.
import { hasHooks } from "#ability/hook/has-hooks.ts"
import * as Provider from "#ability/provider/provider.ts"
import { systemPrompt } from "#engine/context/system-prompt.ts"
import { type Chosen, chooseModel } from "#engine/model/choose-model.ts"
import { waitFor } from "#engine/model/retry.ts"
import { sentBefore } from "#engine/offer/choose-tools.ts"
import { usableTools } from "#engine/offer/tools-for.ts"
import * as Queue from "#engine/queue/queue.ts"
import { settle } from "#engine/record/append.ts"
import { tipOf } from "#engine/record/history.ts"
import type { Tip } from "#engine/record/session-info.ts"
import * as SessionRecord from "#engine/record/session-record.ts"
import { fixedOf, limitOf } from "#engine/run/budget.ts"
import { createProgress } from "#engine/run/run.ts"
import { openHistory } from "#engine/turn/begin-run.ts"
import * as Log from "#kernel/process/log.ts"
import * as Memory from "#knowledge/memory/memory.ts"
import { errorText } from "#util/error.ts"

/** The share of the tokens that is kept without change. */
const kept = 0.3
const timing = { stall: 120_000, wait: waitFor }

export function compactByHand(sessionId: string): Promise<SessionRecord.Info> {
  return Queue.enter({ sessionId, whenBusy: "refuse" }, async ({ signal }) => {
    let tip: Tip | undefined
    await Queue.whileBusy({ sessionId, after: () => ({ tip }) }, async (session, before) => {
      try {
        tip = await compactNow(session, { tip: before, signal })
      } catch (error) {
        throw signal.aborted ? new Queue.Interrupted(sessionId, signal) : error
      } finally {
        Memory.rest(sessionId)
      }
    })
    return SessionRecord.get(sessionId)
  })
}

/** Returns the last message after the compaction. */
async function compactNow(
  session: SessionRecord.Info,
  { tip, signal }: { tip: Tip | undefined; signal: AbortSignal },
): Promise<Tip | undefined> {
  Provider.redactKeys()
  const agent = await SessionRecord.chooseAgent(undefined, session.agent)
  const chosen = await chooseModel(agent, session.model).catch(withoutModel)
  const history = Memory.begin(session.id)
  const progress = createProgress(history)
  const scope = { session, progress, signal, timing, ...(chosen ? { chosen } : {}) }
  await openHistory(scope, tip)
  const usable = await usableTools(session, agent)
  const limit = limitOf(chosen, agent.maxTokens)
  const { tools } = sentBefore(session, { usable, limit })
  const system = await systemPrompt(agent, { isTask: false, mode: session.mode, grounding: [] })
  const fixed = fixedOf(system, tools)
  const wanted = Math.floor(Memory.shortTerm(session.id).tokenCount() * kept)
  const hooks = (await hasHooks()) ? await import("#engine/hook/session-hooks.ts") : undefined
  const own = await hooks?.openHooks({ ...scope, agent, parent: undefined, isUnasked: false })
  await own?.beforeCompact("manual")
  const { compactHistory } = await import("#engine/compaction/compact-history.ts")
  try {
    if (await compactHistory(scope, { limit, fixed, wanted })) await own?.afterCompact("manual")
  } finally {
    await settle(progress.records)
    await SessionRecord.update(session, (draft) => {
      draft.usage = SessionRecord.Totals.parse(draft.usage ?? {})
      SessionRecord.addUsage(draft.usage, progress.totals)
    })
  }
  return tipOf(session, history, tip)
}

/** Without a model the summary is extracted from the messages. */
function withoutModel(error: unknown): Chosen | undefined {
  Log.warn("there is no model to write the summary", { error: errorText(error) })
  return undefined
}
