// A prompt as a job: what travels to the worker that runs it, and how it runs there.

import { setTimeout as sleep } from "node:timers/promises"
import { localFolder } from "#ability/checkout/local-folder.ts"
import { startInstance } from "#edge/server/start-instance.ts"
import type { AgentSource } from "#engine/host/agent-adapter.ts"
import type { AgentInput } from "#engine/host/create-agent.ts"
import { skip } from "#engine/queue/skipped-prompts.ts"
import * as StoredPrompt from "#engine/queue/stored-prompt.ts"
import type { PromptPart } from "#engine/record/prompt-part.ts"
import * as Session from "#engine/session/session.ts"
import { Instance } from "#kernel/instance.ts"
import * as Person from "#kernel/person.ts"
import * as Worker from "#kernel/worker/worker.ts"
import * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { errorText, NamedError } from "#util/error.ts"
import { Denied, personNow } from "./person-now.ts"

/** The parts of the prompt are in its record. */
export type Job = {
  sessionId: string
  directory: string
  person?: Person.Person | undefined
  input: Omit<AgentInput, "text" | "parts" | "sessionId" | "signal" | "stored" | "runner" | "editor">
  /** The schedule of which it is a run. */
  scheduleId?: string | undefined
  /** The worker that accepted it. */
  from: string
}
export type Outcome =
  | { messageId: string }
  | { error: { name: string; message: string; data?: Record<string, unknown> | undefined } }

/** Milliseconds between two attempts to get a session that another worker uses for something else. */
const retryAfter = 200

/** Throws if the job has to go on at another worker. */
export async function runJob(agentFor: AgentSource, id: string, job: Job): Promise<Outcome> {
  const { directory, sessionId } = job
  const run = () => whenFree(sessionId, () => outcomeOf(agentFor, id, job))
  return Instance.provide({ directory: await localFolder(directory), init: startInstance, fn: run })
}

export function outcomeOfError(error: unknown): Outcome {
  const data = error instanceof NamedError ? (error.data as Record<string, unknown>) : undefined
  return { error: { name: error instanceof Error ? error.name : "Error", message: errorText(error), data } }
}

export async function answerOf(sessionId: string, outcome: Outcome): Promise<Message.Info> {
  if ("messageId" in outcome) return MessageStore.get(sessionId, outcome.messageId)
  const { name, message, data } = outcome.error
  throw new NamedError(name, message, data)
}

/** Joins a stored prompt to the running one of its session, if that runs here and takes it. Otherwise its job runs later. */
export async function steer(agentFor: AgentSource, id: string, job: Job): Promise<void> {
  const { sessionId, directory, person, input } = job
  const join = async () => {
    const found = await StoredPrompt.find({ id, sessionId, isJob: true })
    if (!found) return
    const { parts } = found
    const stored = handleOf(found, false)
    const agent = await agentFor(await localFolder(directory))
    await agent.process({ ...input, sessionId, parts, stored, onlyJoins: true }).answer()
  }
  return Instance.provide({
    directory: await localFolder(directory),
    init: startInstance,
    fn: () => Person.run(person, join),
  })
}

/** Runs `fn` with the lease of a session. The prompt takes the same lease again, and never finds the session busy. */
export async function whenFree<T>(sessionId: string, fn: () => Promise<T>): Promise<T> {
  for (;;)
    try {
      return await Worker.inLease(sessionId, fn)
    } catch (error) {
      if (!(error instanceof Worker.Taken)) throw error
      await sleep(retryAfter)
    }
}

async function outcomeOf(agentFor: AgentSource, id: string, job: Job): Promise<Outcome> {
  const { sessionId, input, directory, person } = job
  const found = await findPrompt(sessionId, id)
  if (!found) return outcomeOfError(new StoredPrompt.Removed({ id, sessionId }))
  const { prompt, parts, isResumed } = found
  const stored = handleOf({ id, sessionId, parts }, isResumed)
  // The message holds the text that a command made, which is not a command itself.
  const given = { ...input, sessionId, parts, isResumed, stored, ...(isResumed ? { isText: true } : {}) }
  try {
    // A turn that has begun goes on, whatever became of its person.
    const now = prompt ? await personOf(job) : person
    const agent = await agentFor(await localFolder(directory))
    const answer = () => agent.process(given).answer()
    return { messageId: (await Person.run(now, answer)).id }
  } catch (error) {
    const mustGoOn = error instanceof Worker.TakenOver || Worker.held().some(({ signal }) => signal.aborted)
    if (mustGoOn) throw error
    if (prompt && !stored.hasBegun) await skipIfLeft(prompt, error)
    return outcomeOfError(error)
  }
}

/** Throws if the person may not prompt any more. */
async function personOf({ person }: Job) {
  try {
    return await personNow(person?.name)
  } catch (error) {
    if (!(error instanceof Denied)) throw error
    throw new NamedError("Prompt.Denied", `The prompt was refused: ${error.message}`)
  }
}

/** Lists a prompt as skipped that ended before it began, unless it was stopped, or is listed already. */
async function skipIfLeft(prompt: StoredPrompt.Info, error: unknown): Promise<void> {
  if (error instanceof Session.Interrupted || !(await StoredPrompt.find(prompt))) return
  await skip(await Session.get(prompt.sessionId), [{ prompt, reason: errorText(error) }])
}

function handleOf(
  { id, sessionId, parts }: Pick<StoredPrompt.Info, "id" | "sessionId" | "parts">,
  hasBegun: boolean,
): StoredPrompt.Handle {
  return { id, sessionId, written: Promise.resolve(parts), hasBegun, isJob: true }
}

/** The prompt as it was accepted, or as its message has it if it began on a worker that is gone. */
async function findPrompt(
  sessionId: string,
  id: string,
): Promise<{ prompt?: StoredPrompt.Info; parts: PromptPart[]; isResumed: boolean } | undefined> {
  const prompt = await StoredPrompt.find({ id, sessionId, isJob: true })
  if (prompt) return { prompt, parts: prompt.parts, isResumed: false }
  const begun = (await MessageStore.list(sessionId)).find(({ promptId }) => promptId === id)
  if (!begun) return undefined
  const text = begun.type === "text" ? Message.textOf(begun) : ""
  return { parts: [{ type: "text", text: text || "(attachments)" }], isResumed: true }
}
