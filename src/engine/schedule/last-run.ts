// The last run of each schedule, as a record: which session and prompt it got, and how it ended. The ids are stored before
// they are used, so that a run that goes on at another worker uses the same ones.
import { z } from "zod"
import * as Storage from "#kernel/storage/storage.ts"
import { about } from "#util/about.ts"
import { createId } from "#util/id.ts"

const Failure = z.object({ name: z.string(), message: z.string() })

export const Info = z.object({
  time: about("When it was due, in milliseconds since 1970.", z.number()),
  result: about(
    "refused: it could not start; lost: its job is gone without an end.",
    z.enum(["running", "done", "failed", "refused", "lost"]),
  ),
  sessionId: about("Its session.", z.string().optional()),
  error: about("Why it failed or was refused.", Failure.optional()),
})
export type Info = z.infer<typeof Info>

const Run = z.object({
  time: z.number(),
  id: z.string().describe("the job that starts it"),
  sessionId: z.string(),
  promptId: z.string(),
  result: z.enum(["done", "failed", "refused"]).optional(),
  error: Failure.optional(),
})
export type Run = z.infer<typeof Run>

const Kept = z.object({ last: Run.optional(), skipped: z.number().optional() })
export type Kept = z.infer<typeof Kept>
/** Whether a job waits or runs. */
export type States = ReadonlyMap<string, "open" | "over">
type End = Pick<Run, "result" | "error">

/** The run of a tick with its ids; undefined if it is over, or if a later tick was seen. */
export async function begin(
  scheduleId: string,
  tick: { id: string; time: number },
): Promise<Run | undefined> {
  const { last } = await Storage.update<Kept>(
    keyOf(scheduleId),
    (draft) => {
      const seen = Math.max(draft.last?.time ?? 0, draft.skipped ?? 0)
      if (seen >= tick.time) return
      draft.last = { ...tick, sessionId: createId("sess"), promptId: createId("prm") }
    },
    { initial: {} },
  )
  return last?.id === tick.id && !last.result ? last : undefined
}

/** Marks a tick that did not run because the run before was not over. */
export async function skip(scheduleId: string, time: number): Promise<void> {
  await Storage.update<Kept>(keyOf(scheduleId), (draft) => {
    draft.skipped = Math.max(draft.skipped ?? 0, time)
  })
}

/** Stores how a run ended, unless a later one has begun or the schedule is gone. */
export async function end(scheduleId: string, promptId: string, { result, error }: End): Promise<void> {
  try {
    await Storage.update<Kept>(keyOf(scheduleId), (draft) => {
      if (draft.last?.promptId === promptId) Object.assign(draft.last, { result, error })
    })
  } catch (error) {
    if (!(error instanceof Storage.NotFound)) throw error
  }
}

export async function read(scheduleId: string): Promise<Kept> {
  try {
    return Kept.parse(await Storage.read(keyOf(scheduleId)))
  } catch (error) {
    if (error instanceof Storage.NotFound) return {}
    throw error
  }
}

export async function readAll(): Promise<Map<string, Kept>> {
  const found = new Map<string, Kept>()
  await Storage.readAll(["schedule"], (value, id) => {
    const { data } = Kept.safeParse(value)
    if (data) found.set(id, data)
  })
  return found
}

export async function remove(scheduleId: string): Promise<void> {
  await Storage.remove(keyOf(scheduleId))
}

/** The jobs of the last run: the one that starts it, and its prompt. */
export function jobsOf(kept: Kept | undefined): string[] {
  return kept?.last ? [kept.last.id, kept.last.promptId] : []
}

export function infoOf({ time, id, sessionId, promptId, result, error }: Run, states: States): Info {
  const isOpen = states.get(id) === "open" || states.get(promptId) === "open"
  const now = result ?? (isOpen ? "running" : "lost")
  return { time, result: now, ...(now === "refused" ? {} : { sessionId }), ...(error ? { error } : {}) }
}

function keyOf(scheduleId: string): Storage.Key {
  return ["schedule", scheduleId]
}
