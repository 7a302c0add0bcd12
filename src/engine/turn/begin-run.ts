// The steps of a prompt before its first request: choose agent and model, read the history, collect rights, context and
// tools.
import { ifConfigured } from "#ability/mcp/if-configured.ts"
import * as Provider from "#ability/provider/provider.ts"
import { chooseModel } from "#engine/ask/choose-model.ts"
import { findContext } from "#engine/context/find-context.ts"
import { ground, systemPrompt } from "#engine/context/system-prompt.ts"
import { lineOf, toolsFor } from "#engine/offer/tools-for.ts"
import * as StoredPrompt from "#engine/queue/stored-prompt.ts"
import { keep } from "#engine/record/append.ts"
import { type PromptPart, titleOf, wordsOf } from "#engine/record/prompt-part.ts"
import type { Tip } from "#engine/record/session-info.ts"
import * as SessionRecord from "#engine/record/session-record.ts"
import { createPermits, type Permits } from "#engine/rights/permits.ts"
import { createRights, readingBy } from "#engine/rights/rights.ts"
import {
  type Ask,
  type Input,
  mayCall,
  type Offer,
  type Run,
  type Settled,
  type Timing,
} from "#engine/run/run.ts"
import * as Log from "#kernel/process/log.ts"
import { addPrompt, textOf } from "./add-prompt.ts"
import { createSending, openHistory } from "./open-history.ts"

export type Work = Omit<Input, "text" | "parts"> & {
  parts: PromptPart[]
  timing: Timing
  /** The text of the prompt, if it names a prompt of an MCP server. */
  command: string | undefined
  /** Its parts before that server was asked. */
  typed?: PromptPart[]
}
/** The fields of a run that are known when its session is claimed. */
export type Begun = Pick<Run, "session" | "progress" | "signal"> & { tip?: Tip | undefined }

/** `prompt` runs tasks. It is passed in to avoid an import cycle. */
export async function beginRun(work: Work, begun: Begun, prompt: Ask): Promise<Run> {
  Provider.redactKeys()
  const answering = await chooseAnswering(work, begun)
  await openHistory(begun, begun.tip)
  const offer: Offer = { tools: [], edition: 0 }
  const settled = settle(work, { ...begun, ...answering, offer, prompt })
  const skipped = await StoredPrompt.findAgain(begun.session, work.typed ?? work.parts)
  noteStart(work, begun, answering)
  // A task comes from a model, so `@path` in it is no reference.
  await addPrompt(settled, work.parent ? { ...work, mentionsIn: "" } : work)
  if (skipped) leaveSkipped(settled, skipped)
  await findContext(settled)
  await startServers(settled)
  Object.assign(offer, await toolsFor(settled, settled.intent))
  const run: Run = Object.freeze({ ...settled, system: await systemOf(settled), offer })
  work.parent?.progress.tasks.runs.set(run.session.id, run)
  return run
}

type Answering = Pick<Run, "agent" | "chosen">

async function chooseAnswering(work: Work, { session }: Begun): Promise<Answering> {
  const agent = await SessionRecord.chooseAgent(work.agent, session.agent)
  const chosen = await chooseModel(agent, work.model, session.model)
  if (work.maxCost !== undefined && !chosen.facts?.cost)
    Log.warn("the price of this model is not known, so --max-cost cannot stop it", { model: chosen.modelId })
  return { agent, chosen }
}

/** The session record names who answers. */
function noteStart(work: Work, { session, progress }: Begun, { agent, chosen }: Answering) {
  session.agent = agent.id
  const name = `${chosen.providerId}/${chosen.modelId}`
  if (!chosen.isFallback) session.model = name
  session.fallbackModel = chosen.isFallback ? name : undefined
  session.title ||= titleOf(work.parts)
  const { model, fallbackModel, title } = session
  const written = SessionRecord.update(session, (draft) => {
    Object.assign(draft, { agent: agent.id, model, fallbackModel, title: draft.title || title })
  })
  keep(progress.records, written)
}

/** A skipped prompt that comes again leaves its list when its message is on the disk: a crash must leave one of them. */
function leaveSkipped({ session, progress: { records } }: Settled, skipped: string): void {
  const written = Promise.all(records.pending)
  keep(
    records,
    written.then(async () => {
      if (records.failed) return
      await SessionRecord.update(session, (draft) => StoredPrompt.unlist(draft, skipped))
      await StoredPrompt.remove(skipped)
    }),
  )
}

function settle(
  work: Work,
  { offer, tip: _, ...known }: Begun & Answering & { offer: Offer; prompt: Ask },
): Settled {
  const { maxSteps = 200, maxCost, parent, timing } = work
  return {
    ...known,
    intent: textOf(wordsOf(work.parts)),
    limits: { maxSteps, ...(maxCost === undefined ? {} : { maxCost }) },
    timing,
    permits: permitsFor(work, { ...known, offer }),
    converter: createSending(known, known.chosen),
    parent,
    depth: parent ? parent.depth + 1 : 0,
  }
}

/** Invalid rules end a prompt before it costs anything. */
function permitsFor(
  work: Work,
  { session, progress, signal, agent, offer }: Begun & Answering & { offer: Offer },
): Permits {
  const { rules = [], parent, asks = parent?.permits.asks ?? "listeners" } = work
  const rights = createRights({ session, agent, rules, parent: parent?.permits.rights })
  return createPermits({
    session,
    agent: agent.id,
    task: parent ? textOf(wordsOf(work.parts)) : undefined,
    mayCall: (id) => mayCall(offer, id),
    rights,
    asks,
    parent: parent?.permits,
    limit: work.timing.reply,
    records: progress.records,
    signal,
  })
}

/** Skills may have started MCP servers. */
async function startServers({ session, signal }: Settled): Promise<void> {
  const servers = await ifConfigured()
  await servers?.prepare(signal, await lineOf(session))
}

async function systemOf(settled: Settled): Promise<string> {
  const { agent, session, permits, parent } = settled
  const reading = await readingBy(permits.rights)
  const grounding = await ground(agent, permits, settled)
  return systemPrompt(agent, { isTask: parent !== undefined, mode: session.mode, grounding, reading })
}
