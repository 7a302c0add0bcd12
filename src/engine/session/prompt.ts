// A prompt enters a session: one at a time, the next one waits. It ends with an answer, an error that the session
// keeps, or an interruption; in every case the session can go on with the next prompt.
import { ifConfigured } from "#ability/mcp/if-configured.ts"
import type { Rule } from "#ability/permission/rule.ts"
import * as Provider from "#ability/provider/provider.ts"
import * as Bus from "#kernel/bus.ts"
import * as Log from "#kernel/log.ts"
import * as Memory from "#knowledge/memory/memory.ts"
import * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { errorText } from "#util/error.ts"
import { chooseAgent, modelOf } from "./choose-agent.ts"
import { chooseModel } from "./choose-model.ts"
import { endWith } from "./end-with.ts"
import { findContext } from "./find-context.ts"
import { ground } from "./ground.ts"
import { cutOff, historyOf, missingResults } from "./history.ts"
import { Interrupted } from "./interrupted.ts"
import { lineOf } from "./line-of.ts"
import { loop } from "./loop.ts"
import { type Asks, createPermits, type Permits } from "./permits.ts"
import { type PromptPart, partsOf, titleOf, wordsOf } from "./prompt-part.ts"
import * as Queue from "./queue.ts"
import { readingBy } from "./reading-by.ts"
import { waitFor } from "./retry.ts"
import { createRights } from "./rights.ts"
import { append, keep, type Limits, lastId, mayCall, type Run, settle, type Timing } from "./run.ts"
import * as SessionRecord from "./session-record.ts"
import { spawnTask } from "./spawn-task.ts"
import { systemPrompt } from "./system-prompt.ts"
import { tellGaps } from "./tell-gaps.ts"
import { toolsFor } from "./tools-for.ts"

export type Input = {
  sessionId: string
  text?: string
  /** Behind the text: more of it, files and images. */
  parts?: PromptPart[]
  /** The words in which `@path` points at a file; all of them where it is left out. */
  mentionsIn?: string
  /** First read again what was attached before and has changed since, and try again what failed. */
  refresh?: boolean
  agent?: string
  model?: string
  signal?: AbortSignal
  whenBusy?: "queue" | "refuse"
  /** Milliseconds, from when the session begins with it. */
  timeout?: number
  /** What is done where a person must allow something: wait for one, deny it, or allow it this once. */
  asks?: Asks
  /** Milliseconds until a question that nobody answers counts as rejected; ten minutes where it is left out. */
  replyLimit?: number
  /** Rules of the person for this prompt. */
  rules?: Rule[]
  /** Who gave this prompt as a task. */
  parent?: Run
} & Partial<Limits>

type Work = Input & { parts: PromptPart[]; timing: Timing }
/** What there is of a run before its model is known. */
type Begun = Pick<Run, "session" | "history" | "records" | "totals" | "signal">

const usual: Timing = { stall: 120_000, keepEvery: 1_000, reply: 600_000, wait: waitFor }

/** Send a prompt; gives the final message of the model. */
export function prompt(input: Input): Promise<Message.Info> {
  return promptWith(input, usual)
}

/** The same for who is more, or less, patient with the model. */
export async function promptWith(input: Input, usual: Timing): Promise<Message.Info> {
  const parts = partsOf(input)
  const timing = { ...usual, reply: input.replyLimit ?? usual.reply }
  return Queue.enter(input, async (abort) => {
    const letGo = endWith(abort, input)
    try {
      return await work({ ...input, parts, timing }, abort.signal)
    } finally {
      letGo()
    }
  })
}

async function work(input: Work, signal: AbortSignal): Promise<Message.Info> {
  const { sessionId } = input
  const { session, kept } = await claim(sessionId, signal)
  const totals = SessionRecord.Totals.parse({})
  const history = Memory.begin(sessionId)
  const begun: Begun = { session, history, records: { pending: new Set() }, totals, signal }
  keep(begun.records, kept)
  try {
    const run = await begin(input, begun)
    const answer = await loop(run)
    await settle(run.records)
    await finish(run, { status: "idle" })
    Bus.publish(SessionRecord.Idle, { sessionId })
    return answer
  } catch (error) {
    throw await fail(begun, error)
  } finally {
    Memory.rest(sessionId)
  }
}

/** Who only listens must learn as well of a prompt that never began. */
async function claim(sessionId: string, signal: AbortSignal): ReturnType<typeof SessionRecord.claim> {
  try {
    if (signal.aborted) throw new Interrupted(sessionId, signal)
    return await SessionRecord.claim(sessionId)
  } catch (error) {
    Bus.publish(SessionRecord.Failed, { sessionId, error: failureOf(error) })
    throw error
  }
}

/** The history is made whole, and the words of the person are kept. */
async function begin(input: Work, begun: Begun): Promise<Run> {
  const { session, history, records } = begun
  Provider.holdKeys()
  const agent = await chooseAgent(input.agent, session.agent)
  const chosen = await chooseModel(input.model, session.model, await modelOf(agent))
  const { maxSteps = 200, maxCost } = input
  if (maxCost !== undefined && !chosen.facts?.cost)
    Log.warn("the price of this model is not known, so --max-cost cannot stop it", { model: chosen.modelId })
  for (const message of await historyOf(session.id, session.branch)) history.push(message)
  tellGaps(begun)
  for (const message of cutOff(history)) keep(records, MessageStore.write(message))
  for (const result of missingResults(history)) append(begun, result)
  session.agent = agent.id
  if (!chosen.isFallback) session.model = `${chosen.providerId}/${chosen.modelId}`
  session.title ||= titleOf(input.parts)
  const { model, title } = session
  keep(
    records,
    SessionRecord.update(session, (draft) => Object.assign(draft, { agent: agent.id, model, title })),
  )
  const words = wordsOf(input.parts)
  if (words.length) append(begun, userMessage(begun, words))
  const permits = permitsFor(input, begun, { agent, mayCall: (id) => mayCall(run, id) })
  const mentions = mentionsIn(input, words)
  if (input.refresh || mentions.includes("@") || input.parts.some(({ type }) => type !== "text")) {
    const { attach } = await import("./attach.ts")
    await attach({ ...begun, permits, facts: chosen.facts }, { ...input, mentionsIn: mentions })
  }
  const isTask = input.parent !== undefined
  const asked = { intent: textOf(words), agent, facts: chosen.facts, rights: permits.rights, isTask }
  const tell = () => findContext(begun, asked)
  await tell()
  // Skills may have brought servers.
  await (await ifConfigured())?.prepare(begun.signal, await lineOf(session))
  const reading = await readingBy(permits.rights)
  const run: Run = {
    ...begun,
    agent,
    chosen,
    system: await systemPrompt(agent, {
      isTask,
      mode: session.mode,
      grounding: await ground(agent, permits.rights, session.id),
      mayRead: (path) => reading(path) !== "deny",
    }),
    ...(await toolsFor({ ...begun, agent, chosen }, asked.intent)),
    limits: { maxSteps, ...(maxCost === undefined ? {} : { maxCost }) },
    timing: input.timing,
    permits,
    repeats: [],
    parent: input.parent,
    depth: input.parent ? input.parent.depth + 1 : 0,
    tasks: { running: 0, waiting: [], runs: new Map() },
    tell,
    spawn: (task) => spawnTask(run, task, promptWith),
  }
  input.parent?.tasks.runs.set(session.id, run)
  return run
}

/** Rules that cannot be used end a prompt before it costs anything. */
function permitsFor(
  input: Work,
  { session, records, signal }: Begun,
  { agent, mayCall }: Pick<Run, "agent"> & { mayCall(id: string): boolean },
): Permits {
  const { rules = [], parent, asks = parent?.permits.asks ?? "wait" } = input
  const rights = createRights({ session, agent, rules, parent: parent?.permits.rights })
  return createPermits({
    session,
    agent: agent.id,
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
async function fail(run: Begun, thrown: unknown): Promise<unknown> {
  const { signal, session } = run
  const error = signal.aborted ? new Interrupted(session.id, signal) : thrown
  for (const result of missingResults(run.history)) append(run, result)
  const kept = failureOf(error)
  const status = signal.aborted ? "interrupted" : "error"
  await settle(run.records).catch(warn)
  await finish(run, { status, error: kept }).catch(warn)
  Bus.publish(SessionRecord.Failed, { sessionId: session.id, error: kept })
  return error
}

async function finish(run: Begun, state: Pick<SessionRecord.Info, "status" | "error">): Promise<void> {
  await SessionRecord.update(run.session, (draft) => {
    delete draft.owner
    draft.usage = SessionRecord.Totals.parse(draft.usage ?? {})
    SessionRecord.addUsage(draft.usage, run.totals)
    const { offered, toolServers } = run.session
    Object.assign(draft, state, offered ? { offered } : {}, toolServers ? { toolServers } : {})
  })
}

function failureOf(error: unknown): NonNullable<SessionRecord.Info["error"]> {
  return { name: error instanceof Error ? error.name : "Error", message: errorText(error) }
}

function userMessage({ session, history }: Begun, parts: Message.Part[]): Message.Info {
  const { id: sessionId, branch } = session
  return Message.make({
    sessionId,
    parentId: lastId({ history }),
    branch,
    type: "text",
    data: { role: "user", parts },
  })
}

/** What a model says to another one is taken as it is. */
function mentionsIn({ parent, mentionsIn }: Work, words: Message.Part[]): string {
  return parent ? "" : (mentionsIn ?? textOf(words))
}

function textOf(words: Message.Part[]): string {
  return words.map(({ text }) => text).join("\n")
}

function warn(error: unknown): void {
  Log.warn("a record of a session that failed could not be kept", { error: errorText(error) })
}
