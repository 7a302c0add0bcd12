// Stored prompts: one record for each prompt that was accepted and has not begun, because another one runs or because
// the server answered 202 at once. The record is removed once the first message of the prompt is stored, which has the
// id of the record; that of a job in the same transaction, so it is there exactly if the prompt has not begun. Jobs are kept
// by session: a fleet may have many.
import { z } from "zod"
import { PromptPart } from "#engine/record/prompt-part.ts"
import { Owner, ownOwner } from "#engine/record/session-info.ts"
import * as SessionRecord from "#engine/record/session-record.ts"
import * as Log from "#kernel/process/log.ts"
import * as Storage from "#kernel/storage/storage.ts"
import * as Worker from "#kernel/worker/worker.ts"
import type * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { errorText, NamedError } from "#util/error.ts"
import { createId } from "#util/id.ts"
import { NotJoined, runtimeStops, timeIsUp } from "./queue.ts"
import { shorten, skip, unlist, wordsIn } from "./skipped-prompts.ts"

export const Info = z.object({
  id: z.string(),
  sessionId: z.string(),
  time: z.number().describe("When it was accepted, in milliseconds since 1970."),
  owner: Owner.describe("Process that accepted it."),
  parts: z.array(PromptPart),
  agent: z.string().optional(),
  model: z.string().optional(),
  isJob: z.boolean().optional().describe("Whether any worker of the database may run it."),
})
export type Info = z.infer<typeof Info>

/** The handle of a stored prompt. */
export type Handle = {
  readonly id: string
  readonly sessionId: string
  /** Resolves when the record is on the disk, with the stored parts. Their images are references without bytes. */
  readonly written: Promise<PromptPart[]>
  /** Its first message is being written; that of a job is stored. */
  hasBegun: boolean
  /** Another worker runs it if this one stops before it began. */
  readonly isJob?: boolean
}

export class Busy extends NamedError {
  constructor(sessionId: string, promptId: string) {
    const how = `POST /session/${sessionId}/abort stops it`
    super("Prompt.Busy", `Prompt ${promptId} has begun and cannot be removed from the queue; ${how}.`, {
      sessionId,
      promptId,
    })
  }
}

/** A job was removed before it began. */
export class Removed extends NamedError {
  constructor({ sessionId, id: promptId }: Pick<Handle, "id" | "sessionId">) {
    super("Prompt.Interrupted", `Prompt ${promptId} was removed before it began.`, { sessionId, promptId })
  }
}

/** The key of a prompt is made of these. */
type Place = Pick<Info, "id" | "sessionId" | "isJob">
type Input = {
  sessionId: string
  parts: PromptPart[]
  agent?: string | undefined
  model?: string | undefined
}

/** Store a prompt. Returns at once; `written` resolves when it is on the disk. */
export function create(input: Input): Handle {
  const id = createId("prm")
  const write = async () => {
    const prompt = await infoOf(id, input)
    await Storage.write(keyOf(prompt), prompt)
    return prompt.parts
  }
  const written = write()
  written.catch(() => {})
  return { id, sessionId: input.sessionId, written, hasBegun: false }
}

/** A prompt that any worker may run. `insertion` stores it, in the transaction that adds its job. */
export async function createJob({
  id = createId("prm"),
  ...input
}: Input & { id?: string | undefined }): Promise<{
  id: string
  insertion: { text: string; values: string[] }
}> {
  const prompt = { ...(await infoOf(id, input)), isJob: true }
  return { id, insertion: Storage.insertion(keyOf(prompt), prompt) }
}

async function infoOf(id: string, { sessionId, parts, agent, model }: Input): Promise<Info> {
  const prompt = { id, sessionId, time: Date.now(), owner: ownOwner(), agent, model }
  const hasImages = parts.some(({ type }) => type === "image")
  const light = hasImages ? await (await import("./store-images.ts")).storeImages(sessionId, parts) : parts
  return { ...prompt, parts: light }
}

/** A prompt that has not begun. */
export async function find(prompt: Place): Promise<Info | undefined> {
  try {
    return Info.parse(await Storage.read(keyOf(prompt)))
  } catch (error) {
    if (error instanceof Storage.NotFound) return undefined
    throw error
  }
}

/** Forget the waiting jobs of a session. Returns whether there were any. */
export async function removeJobs({ id, skipped = [] }: SessionRecord.Info): Promise<boolean> {
  const known = new Set(skipped.map((one) => one.id))
  const jobs = (await readAll(["job", id])).filter((job) => !known.has(job.id))
  await Promise.all(jobs.map(remove))
  return jobs.length > 0
}

/** Stores the first message of a prompt. The record of a job is removed in the same transaction; if it is gone, the prompt
 * was removed meanwhile, and the message is not stored. */
export async function begin(handle: Handle, message: Message.Info): Promise<void> {
  if (!handle.isJob) return MessageStore.write(message)
  await MessageStore.write(message, { removes: keyOf(handle) }).catch((error) => {
    throw error.name === "Storage.NotFound" ? new Removed(handle) : error
  })
  handle.hasBegun = true
}

export async function remove(prompt: Place): Promise<void> {
  await Storage.remove(keyOf(prompt))
}

/** Handles a prompt that ended before it began: it is dropped if a person aborted it, else reported as skipped. An error
 * while doing so is only logged. */
export async function release(handle: Handle, end: { signal: AbortSignal; error?: unknown }): Promise<void> {
  try {
    await dropOrSkip(handle, end)
  } catch (error) {
    Log.warn("a prompt that did not run could not be reported", { error: errorText(error) })
  }
}

async function dropOrSkip(
  handle: Handle,
  { signal, error }: { signal: AbortSignal; error?: unknown },
): Promise<void> {
  const isStored = await handle.written.then(
    () => true,
    () => false,
  )
  if (handle.hasBegun || !isStored) return
  if (handle.isJob && (error instanceof Worker.TakenOver || signal.reason === runtimeStops)) return
  if (error instanceof NotJoined || error instanceof Removed) return
  const isAborted = signal.aborted && signal.reason !== runtimeStops && signal.reason !== timeIsUp
  if (isAborted) return remove(handle)
  const reason = signal.aborted ? signal.reason : errorText(error)
  const session = await SessionRecord.get(handle.sessionId)
  await skip(session, [{ prompt: Info.parse(await Storage.read(keyOf(handle))), reason }])
}

/** The prompts of a session that have not begun, the oldest first. */
export async function list(sessionId: string): Promise<Info[]> {
  const [prompts, jobs] = await Promise.all([listPlain(sessionId), readAll(["job", sessionId])])
  return [...prompts, ...jobs].sort((a, b) => (a.id < b.id ? -1 : 1))
}

/** Like `list`, without jobs. */
export async function listPlain(sessionId: string): Promise<Info[]> {
  return (await readAll()).filter((prompt) => prompt.sessionId === sessionId)
}

/** Forget a waiting or skipped prompt. */
export async function discard(session: SessionRecord.Info, promptId: string): Promise<void> {
  const isListed = (session.skipped ?? []).some(({ id }) => id === promptId)
  const stored = (await list(session.id)).find(({ id }) => id === promptId)
  if (!isListed && !stored)
    throw new NamedError(
      "Prompt.NotFound",
      `Session ${session.id} has no waiting or skipped prompt ${promptId}.`,
      { sessionId: session.id, promptId },
    )
  if (isListed) await SessionRecord.update(session, (draft) => void unlist(draft, promptId))
  if (stored) await remove(stored)
}

/** Finds a skipped prompt with the same text, which these parts repeat. The list of skipped prompts has only the beginning
 * of a text, so the records are compared. */
export async function findAgain(session: SessionRecord.Info, parts: PromptPart[]): Promise<Info | undefined> {
  const words = wordsIn(parts)
  if (!words || !session.skipped?.some(({ text }) => text === shorten(words))) return undefined
  const skipped = new Set(session.skipped.map(({ id }) => id))
  return (await list(session.id)).find((one) => skipped.has(one.id) && wordsIn(one.parts) === words)
}

/** Forget all prompts of a removed session. */
export async function removeAll(sessionId: string): Promise<void> {
  await Promise.all((await list(sessionId)).map(remove))
}

/** The prompts of all sessions that have not begun, the oldest first; or the jobs of a session. */
export async function readAll(prefix: Storage.Key = ["prompt"]): Promise<Info[]> {
  const prompts: Info[] = []
  await Storage.readAll(prefix, (value) => {
    const parsed = Info.safeParse(value)
    if (parsed.success) prompts.push(parsed.data)
    else Log.warn("a stored prompt is not valid and was left out", { error: z.prettifyError(parsed.error) })
  })
  return prompts
}

function keyOf({ id, sessionId, isJob }: Place): Storage.Key {
  return isJob ? ["job", sessionId, id] : ["prompt", id]
}
