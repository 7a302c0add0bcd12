// The steps of a prompt before its first request: choose agent and model, read the history, add the prompt, collect rights,
// context and tools.

import type { AgentDefinition } from "#ability/agent/agent.ts"
import * as AgentRegistry from "#ability/agent/agent-registry.ts"
import * as SeenFiles from "#ability/file/seen-files.ts"
import { hasHooks } from "#ability/hook/has-hooks.ts"
import * as ImageStore from "#ability/image/image-store.ts"
import { ifConfigured } from "#ability/mcp/if-configured.ts"
import * as Provider from "#ability/provider/provider.ts"
import { prepareScripts } from "#ability/script/prepare-scripts.ts"
import { findContext } from "#engine/context/find-context.ts"
import { addNotes, type Note } from "#engine/context/notes.ts"
import { ground, systemPrompt } from "#engine/context/system-prompt.ts"
import { type Chosen, chooseModel } from "#engine/model/choose-model.ts"
import { sessionChain, toolsFor } from "#engine/offer/tools-for.ts"
import { unlist } from "#engine/queue/skipped-prompts.ts"
import * as StoredPrompt from "#engine/queue/stored-prompt.ts"
import { append, keep, lastId } from "#engine/record/append.ts"
import { cutOff, finalAnswer, missingResults, recentHistory } from "#engine/record/history.ts"
import { Notice } from "#engine/record/notice.ts"
import { titleOf, wordsOf } from "#engine/record/prompt-part.ts"
import type { Tip } from "#engine/record/session-info.ts"
import * as SessionRecord from "#engine/record/session-record.ts"
import { createPermits, type Permits } from "#engine/rights/permits.ts"
import { createRights, readingBy } from "#engine/rights/rights.ts"
import { hasGuards } from "#engine/run/has-guards.ts"
import { type Ask, mayCall, type Offer, type Run, type Settled, type Work } from "#engine/run/run.ts"
import * as Bus from "#kernel/bus/bus.ts"
import { isGuest } from "#kernel/process/guest.ts"
import * as Log from "#kernel/process/log.ts"
import * as Memory from "#knowledge/memory/memory.ts"
import { compactionOf, windowOf } from "#knowledge/memory/window.ts"
import { gapsIn } from "#knowledge/message/gaps.ts"
import type * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { ownCommand } from "#util/own-command.ts"
import { addPrompt, textOf } from "./add-prompt.ts"

/** The fields of a run that are known when its session is claimed. */
export type Begun = Pick<Run, "session" | "progress" | "signal"> & { tip?: Tip | undefined }

/** `prompt` runs tasks. It is passed in to avoid an import cycle. */
export async function beginRun(work: Work, begun: Begun, prompt: Ask): Promise<Run> {
  Provider.redactKeys()
  // The record of the session keeps its own mode.
  if (work.filled?.mode) begun.session.mode = work.filled.mode
  const answering = await chooseAnswering(work, begun)
  await ImageStore.fetchShared(begun.session.id)
  await openHistory(begun, begun.tip)
  if (await hasGuards()) begun.progress.guards = await (await import("./guards.ts")).openGuards(begun)
  if (await hasHooks()) begun.progress.hooks = await openHooks(work, begun, answering)
  const { hooks } = begun.progress
  if (!work.isResumed) await hooks?.begin(textOf(wordsOf(work.parts)))
  const offer: Offer = { tools: [], version: 0 }
  const settled = settle(work, { ...begun, ...answering, offer, prompt })
  const skipped = await StoredPrompt.findAgain(begun.session, work.typed ?? work.parts)
  noteStart(work, begun, answering)
  const prepared = work.filled ? await (await import("./run-lines.ts")).runLines(settled, work) : work
  // A task comes from a model, so `@path` in it is no reference.
  if (work.isResumed) addNotes(settled, finalAnswer(begun.progress.history) ? [] : [resumedNote])
  else await addPrompt(settled, work.parent ? { ...work, mentionsIn: "" } : prepared)
  hooks?.addContext()
  if (skipped) leaveSkipped(settled, skipped)
  // A remote agent has its own context and tools.
  if (AgentRegistry.remoteOf(settled.agent.id)) return Object.freeze({ ...settled, system: "", offer })
  await findContext(settled)
  await prepareServers(settled)
  await prepareScripts()
  const run = await complete(settled, offer)
  work.parent?.progress.tasks.runs.set(run.session.id, run)
  return run
}

async function openHooks({ parent, asks }: Work, begun: Begun, { agent }: Answering) {
  const { openHooks } = await import("#engine/hook/session-hooks.ts")
  const isUnasked = (asks ?? parent?.permits.asks) === "once"
  return openHooks({ ...begun, agent, parent, isUnasked })
}

/** Adds what the agent decides: the tools and the system prompt. */
export async function complete(settled: Settled, offer: Offer): Promise<Run> {
  Object.assign(offer, await toolsFor(settled, settled.intent))
  return Object.freeze({ ...settled, system: await systemOf(settled), offer })
}

const resumedNote: Note = {
  kind: "worker",
  name: "takeover",
  text: 'The process that worked on this ended. Calls with the result "interrupted" may have happened, in part or as a whole: look before you repeat them. Then go on.',
}

type Answering = Pick<Run, "agent" | "chosen">

async function chooseAnswering(work: Work, { session }: Begun): Promise<Answering> {
  const named = await SessionRecord.chooseAgent(work.agent, session.agent)
  if (needsGroups(named)) await (await import("#ability/tool/tool-groups.ts")).loadToolGroups()
  const agent = named.id === AgentRegistry.autoAgent ? await resolveAgent(work, session) : named
  const chosen = await chooseModel(agent, work.model, session.model)
  if (work.maxCost !== undefined && !chosen.facts?.cost)
    Log.warn("the price of this model is not known, so --max-cost cannot stop it", { model: chosen.modelId })
  return { agent, chosen }
}

/** Agents that name tools may name some of these. */
function needsGroups({ id, role, tools, metadata: { prefixes } }: AgentDefinition): boolean {
  return Boolean(prefixes || tools) || role === "orchestrator" || id === AgentRegistry.autoAgent
}

async function resolveAgent(work: Work, session: SessionRecord.Info): Promise<AgentDefinition> {
  return (await import("#engine/orchestrator/choose-agent.ts")).chooseAgent(
    session.id,
    textOf(wordsOf(work.parts)),
  )
}

/** Writes into the session record which agent and model answer, and its title. */
function noteStart(work: Work, { session, progress }: Begun, { agent, chosen }: Answering) {
  const isAuto = (work.agent ?? session.agent) === AgentRegistry.autoAgent
  session.agent = isAuto ? AgentRegistry.autoAgent : agent.id
  const name = `${chosen.providerId}/${chosen.modelId}`
  if (!chosen.isFallback) session.model = name
  session.fallbackModel = chosen.isFallback ? name : undefined
  session.title ||= titleOf(work.filled ? work.typed! : work.parts)
  const { model, fallbackModel, title } = session
  // A command chooses for its own prompt only.
  const isOwnAgent = work.filled?.agent === undefined
  const answerer = {
    ...(isOwnAgent ? { agent: session.agent } : {}),
    ...(isOwnAgent && work.filled?.model === undefined ? { model, fallbackModel } : {}),
  }
  const written = SessionRecord.update(session, (draft) => {
    Object.assign(draft, answerer, { title: draft.title || title })
  })
  keep(progress.records, written)
}

/** A skipped prompt was sent again: removes it from the list once its new message is on disk, so that a crash never
 * loses both. */
function leaveSkipped({ session, progress: { records } }: Settled, skipped: StoredPrompt.Info): void {
  const written = Promise.all(records.pending)
  keep(
    records,
    written.then(async () => {
      if (records.failed) return
      await SessionRecord.update(session, (draft) => unlist(draft, skipped.id))
      await StoredPrompt.remove(skipped)
    }),
  )
}

export function settle(
  work: Work,
  { offer, tip: _, ...known }: Begun & Answering & { offer: Offer; prompt: Ask },
): Settled {
  const { maxSteps = 200, maxCost, parent, timing, timeout, rules = [], outputSchema } = work
  const limits = { maxSteps, ...(maxCost === undefined ? {} : { maxCost }) }
  const permits = permitsFor(work, { ...known, offer })
  const { agent, chosen } = known
  const settings = {
    agent: agent.id,
    model: work.model ?? `${chosen.providerId}/${chosen.modelId}`,
    rules,
    asks: permits.asks,
    maxSteps,
    maxCost,
    timeout,
    replyLimit: timing.reply,
    outputSchema,
  }
  return {
    ...known,
    intent: textOf(wordsOf(work.parts)),
    settings,
    limits,
    outputSchema,
    timing,
    permits,
    editor: work.editor ?? parent?.editor,
    directories: work.directories ?? parent?.directories ?? [],
    converter: converterFor(known, known.chosen),
    parent,
    depth: parent ? parent.depth + 1 : 0,
  }
}

/** Throws for invalid rules, before the prompt costs anything. */
function permitsFor(
  work: Work,
  { session, progress, signal, agent, offer }: Begun & Answering & { offer: Offer },
): Permits {
  const { rules = [], parent, asks = parent?.permits.asks ?? "listeners" } = work
  // Without a sandbox around this process the preset would allow everything.
  const preset = isGuest() ? work.preset : undefined
  const directories = work.directories ?? parent?.directories ?? []
  const rights = createRights({
    session,
    agent,
    rules,
    command: work.filled?.rules ?? [],
    preset,
    directories,
    parent: parent?.permits.rights,
  })
  return createPermits({
    session,
    agent: agent.id,
    task: parent ? textOf(wordsOf(work.parts)) : undefined,
    mayCall: (id) => mayCall(offer, id),
    rights,
    asks,
    parent: parent?.permits,
    limit: work.timing.reply,
    onAsk: progress.hooks?.notify,
    records: progress.records,
    signal,
  })
}

/** Puts the tools of the session's MCP servers, those of skills included, into the registry. */
async function prepareServers({ session, signal }: Settled): Promise<void> {
  const servers = await ifConfigured()
  await servers?.prepare(signal, await sessionChain(session))
}

async function systemOf(settled: Settled): Promise<string> {
  const { agent, session, permits, parent, directories, outputSchema } = settled
  const reading = await readingBy(permits.rights)
  const grounding = await ground(agent, permits, settled)
  const isTask = parent !== undefined
  const system = await systemPrompt(agent, { isTask, mode: session.mode, directories, grounding, reading })
  return outputSchema ? `${system}\n\n${(await import("./fit-output.ts")).sayOutput(outputSchema)}` : system
}

/** Reads the messages that a prompt needs into its history, and repairs what a crashed process left open. */
export async function openHistory(
  run: Pick<Run, "session" | "progress">,
  tip: Tip | undefined,
): Promise<void> {
  const { session, progress } = run
  const { history, records } = progress
  for (const message of await recentHistory(session, tip)) history.push(message)
  reportGaps(run)
  for (const message of cutOff(history)) keep(records, MessageStore.write(message))
  for (const result of missingResults(history)) append(run, result)
  // The memory's window is not used here: once built it stays, and attachments may still be read again.
  const compaction = history.findLast((message) => compactionOf(message) !== undefined)
  const versions = compaction && compactionOf(compaction)?.versions
  if (versions) SeenFiles.learn(session.id, versions.concat(SeenFiles.versionsIn(history)))
}

/** Converts the history for the model. The next prompt of this process gets the same message objects from the cache, and
 * need not convert them again. */
function converterFor(
  { session: { id: sessionId }, progress }: Pick<Run, "session" | "progress">,
  { providerId, facts }: Chosen,
): Message.Converter {
  const converter = Memory.converterFor(sessionId, {
    input: facts?.input ?? ["text"],
    providerId,
    imageBytes: (hash) => ImageStore.read(sessionId, hash),
  })
  converter.hold(windowOf(progress.history).sent)
  return converter
}

/** A prompt continues in a session with unreadable messages. Each prompt reports them to the person; the model gets a note
 * in place of each message. */
function reportGaps(run: Pick<Run, "session" | "progress">): void {
  const gaps = gapsIn(run.progress.history)
  const [first] = gaps
  if (!first) return
  const missing =
    gaps.length === 1
      ? `a message of this session cannot be read and is missing (${first.id}: ${first.reason})`
      : `${gaps.length} messages of this session cannot be read and are missing (the first is ${first.id}: ${first.reason})`
  const text = `${missing}; the model is told so. "${ownCommand} doctor" says what can be restored.`
  Bus.publish(Notice, { sessionId: run.session.id, messageId: lastId(run) ?? "", text })
}
