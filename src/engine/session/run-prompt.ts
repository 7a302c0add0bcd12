// One prompt of a session, from its first message to its end: an answer, an error that the session keeps, or an
// interruption. In every case the session can go on with the next prompt.
import { ifConfigured } from "#ability/mcp/if-configured.ts"
import * as Provider from "#ability/provider/provider.ts"
import * as Bus from "#kernel/bus.ts"
import * as Log from "#kernel/log.ts"
import * as Memory from "#knowledge/memory/memory.ts"
import type * as Message from "#knowledge/message/message.ts"
import { errorText } from "#util/error.ts"
import { addPrompt, type Prompt, textOf } from "./add-prompt.ts"
import { chooseAgent } from "./choose-agent.ts"
import { chooseModel } from "./choose-model.ts"
import { findContext } from "./find-context.ts"
import { ground } from "./ground.ts"
import { missingResults } from "./history.ts"
import { Interrupted } from "./interrupted.ts"
import { lineOf } from "./line-of.ts"
import { loop } from "./loop.ts"
import { createSending, openHistory } from "./open-history.ts"
import { createPermits, type Permits } from "./permits.ts"
import type { Input } from "./prompt.ts"
import { type PromptPart, titleOf, wordsOf } from "./prompt-part.ts"
import { readingBy } from "./reading-by.ts"
import { createRights } from "./rights.ts"
import { append, keep, mayCall, type Run, settle, type Timing } from "./run.ts"
import { expandWork } from "./server-command.ts"
import * as SessionRecord from "./session-record.ts"
import { spawnTask } from "./spawn-task.ts"
import * as StoredPrompt from "./stored-prompt.ts"
import { systemPrompt } from "./system-prompt.ts"
import { type Tip, tipOf } from "./tip.ts"
import { toolsFor } from "./tools-for.ts"

export type Work = Omit<Input, "text" | "parts"> & {
  parts: PromptPart[]
  timing: Timing
  /** A server is to be asked for what it calls for. */
  isCalled: boolean
  /** Its parts before a server was asked. */
  typed?: PromptPart[]
}
/** What there is of a run before its model is known. */
type Begun = Pick<Run, "session" | "history" | "records" | "totals" | "signal"> & { tip?: Tip | undefined }

type Ask = (input: Input, timing: Timing) => Promise<Message.Info>

/** `promptWith` is for the tasks that it gives away; it is handed in because it leads here. */
export async function runPrompt(
  input: Work,
  { signal, promptWith }: { signal: AbortSignal; promptWith: Ask },
): Promise<Message.Info> {
  const { sessionId, stored } = input
  const { work, session, before, kept } = await claim(input, signal)
  const totals = SessionRecord.Totals.parse({})
  const history = Memory.begin(sessionId)
  const begun: Begun = { session, history, records: { pending: new Set() }, totals, signal, tip: before.tip }
  keep(begun.records, kept)
  keep(begun.records, StoredPrompt.recoverOnce(sessionId, { isInterrupted: before.status === "interrupted" }))
  try {
    const run = await begin(work, begun, promptWith)
    const answer = await loop(run)
    await settle(run.records)
    await finish(begun, { status: "idle" })
    Bus.publish(SessionRecord.Idle, { sessionId })
    return answer
  } catch (error) {
    throw await fail(begun, error, stored?.id)
  } finally {
    Memory.rest(sessionId)
  }
}

/** Clients that only listen must learn of a prompt that never began. */
async function claim(input: Work, signal: AbortSignal) {
  const { sessionId, stored } = input
  try {
    if (signal.aborted) throw new Interrupted(sessionId, signal)
    const work = input.isCalled ? await expandWork(input, signal) : input
    return { work, ...(await SessionRecord.claim(sessionId)) }
  } catch (error) {
    Bus.publish(SessionRecord.Failed, { sessionId, error: failureOf(error), ...promptIdOf(stored?.id) })
    throw error
  }
}

/** The history is made whole, and the words of the person are kept. */
async function begin(input: Work, begun: Begun, promptWith: Ask): Promise<Run> {
  const { session, records } = begun
  Provider.holdKeys()
  const agent = await chooseAgent(input.agent, session.agent)
  const chosen = await chooseModel(agent, input.model, session.model)
  const { maxSteps = 200, maxCost } = input
  if (maxCost !== undefined && !chosen.facts?.cost)
    Log.warn("the price of this model is not known, so --max-cost cannot stop it", { model: chosen.modelId })
  await openHistory(begun, begun.tip)
  const converter = createSending(session.id, chosen)
  session.agent = agent.id
  const name = `${chosen.providerId}/${chosen.modelId}`
  if (!chosen.isFallback) session.model = name
  session.fallbackModel = chosen.isFallback ? name : undefined
  session.title ||= titleOf(input.parts)
  const { model, fallbackModel, title } = session
  const again = await StoredPrompt.findAgain(session, input.typed ?? input.parts)
  keep(
    records,
    SessionRecord.update(session, (draft) => {
      Object.assign(draft, { agent: agent.id, model, fallbackModel, title })
      if (again) StoredPrompt.unlist(draft, again)
    }),
  )
  if (again) keep(records, StoredPrompt.remove(again))
  const permits = permitsFor(input, begun, { agent, mayCall: (id) => mayCall(run, id) })
  const place = { ...begun, permits, facts: chosen.facts, chosen, timing: input.timing }
  // What a model says to another one points at no file.
  await addPrompt(place, input.parent ? { ...input, mentionsIn: "" } : input)
  const isTask = input.parent !== undefined
  const asked = {
    intent: textOf(wordsOf(input.parts)),
    agent,
    facts: chosen.facts,
    rights: permits.rights,
    isTask,
  }
  const tell = () => findContext(begun, asked)
  await tell()
  // Skills may have brought servers.
  await (await ifConfigured())?.prepare(begun.signal, await lineOf(session))
  const reading = await readingBy(permits.rights)
  const run: Run = {
    ...begun,
    agent,
    chosen,
    converter,
    system: await systemPrompt(agent, {
      isTask,
      mode: session.mode,
      grounding: await ground(agent, permits, begun),
      reading,
    }),
    ...(await toolsFor({ ...begun, agent, chosen }, asked.intent)),
    limits: { maxSteps, ...(maxCost === undefined ? {} : { maxCost }) },
    timing: input.timing,
    permits,
    repeats: [],
    parent: input.parent,
    depth: input.parent ? input.parent.depth + 1 : 0,
    tasks: { running: 0, waiting: [], runs: new Map() },
    add: (prompt) => addJoining(place, prompt),
    tell,
    spawn: (task) => spawnTask(run, task, promptWith),
  }
  input.parent?.tasks.runs.set(session.id, run)
  return run
}

/** A prompt that joins this one ends as this one does, so nobody else releases its record. */
async function addJoining(place: Parameters<typeof addPrompt>[0], prompt: Prompt): Promise<void> {
  try {
    await addPrompt(place, prompt)
  } catch (error) {
    if (prompt.stored) await StoredPrompt.release(prompt.stored, { signal: place.signal, error })
    throw error
  }
}

/** Rules that cannot be used end a prompt before it costs anything. */
function permitsFor(
  input: Work,
  { session, records, signal }: Begun,
  { agent, mayCall }: Pick<Run, "agent"> & { mayCall(id: string): boolean },
): Permits {
  const { rules = [], parent, asks = parent?.permits.asks ?? "listeners" } = input
  const rights = createRights({ session, agent, rules, parent: parent?.permits.rights })
  return createPermits({
    session,
    agent: agent.id,
    task: parent ? textOf(wordsOf(input.parts)) : undefined,
    mayCall,
    rights,
    asks,
    parent: parent?.permits,
    limit: input.timing.reply,
    records,
    signal,
  })
}

/** Whatever happened, every call has a result and the session says how it stands. */
async function fail(run: Begun, thrown: unknown, promptId: string | undefined): Promise<unknown> {
  const { signal, session } = run
  const error = signal.aborted ? new Interrupted(session.id, signal) : thrown
  for (const result of missingResults(run.history)) append(run, result)
  const kept = failureOf(error)
  const status = signal.aborted ? "interrupted" : "error"
  await settle(run.records).catch(warn)
  await finish(run, { status, error: kept }).catch(warn)
  Bus.publish(SessionRecord.Failed, { sessionId: session.id, error: kept, ...promptIdOf(promptId) })
  return error
}

async function finish(run: Begun, state: Pick<SessionRecord.Info, "status" | "error">): Promise<void> {
  await SessionRecord.update(run.session, (draft) => {
    delete draft.owner
    draft.usage = SessionRecord.Totals.parse(draft.usage ?? {})
    SessionRecord.addUsage(draft.usage, run.totals)
    SessionRecord.addChanged(draft, run.records.changed)
    const { offered, toolServers } = run.session
    Object.assign(
      draft,
      state,
      { tip: tipOf(run, run.tip) },
      offered ? { offered } : {},
      toolServers ? { toolServers } : {},
    )
  })
}

function failureOf(error: unknown): NonNullable<SessionRecord.Info["error"]> {
  return { name: error instanceof Error ? error.name : "Error", message: errorText(error) }
}

function promptIdOf(promptId: string | undefined): { promptId?: string } {
  return promptId ? { promptId } : {}
}

function warn(error: unknown): void {
  Log.warn("a record of a session that failed could not be kept", { error: errorText(error) })
}
