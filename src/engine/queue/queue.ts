// The queue of prompts: one runs at a time for each session, the next ones wait. A waiting prompt can also join the
// running one between two of its requests ("steer"). Other changes of a session take a place in the queue too.
import type { Tip } from "#engine/record/session-info.ts"
import * as SessionRecord from "#engine/record/session-record.ts"
import { Instance } from "#kernel/instance.ts"
import * as Worker from "#kernel/worker/worker.ts"
import { NamedError } from "#util/error.ts"
import { orGivenUp, waitAtMost } from "#util/wait.ts"

export type WhenBusy = "queue" | "steer" | "refuse"
type Entry<S = unknown> = {
  abort: AbortController
  start(): void
  /** Settle with the outcome of another prompt. */
  join(other: Entry): void
  /** A prompt that joins the running one, and the id of its record. */
  steering?: S | undefined
  promptId?: string | undefined
  /** The ids of the prompts that have joined it. */
  joined: Set<string>
  done: Promise<unknown>
}

type Change = Partial<Pick<SessionRecord.Info, "mode" | "branch" | "status" | "error" | "tip" | "changed">>

/** The prompt was stopped before its end. */
export class Interrupted extends NamedError {
  constructor(sessionId: string, signal: AbortSignal) {
    super("Session.Interrupted", `Session ${sessionId} was interrupted: ${reasonOf(signal)}.`, { sessionId })
  }
}

/** The prompt could not join the running one, and must not run by itself. */
export class NotJoined extends NamedError {
  constructor(sessionId: string) {
    super("Session.NotJoined", `Session ${sessionId} has no prompt that this one can join.`, { sessionId })
  }
}

/** Abort reasons that no person chose: the runtime stops, or the time of the prompt is up. */
export const runtimeStops = "the runtime stops"
export const timeIsUp = "its time was up (--timeout)"
/** Milliseconds that prompts get to end when the runtime stops. After that, their dependencies are disposed anyway. */
const patience = 3_000
/** Milliseconds that an adapter gets to end a prompt that was aborted. */
const adapterPatience = 2_000
const queues = Instance.state(
  () => ({
    bySession: new Map<string, Entry[]>(),
    /** Prompts that somebody else answers. */
    elsewhere: new Map<AbortController, string>(),
    isStopped: false,
  }),
  async (queues) => {
    queues.isStopped = true
    for (const ending of queues.elsewhere.keys()) ending.abort(runtimeStops)
    const stopped = [...queues.bySession.values()].map((entries) => stop(entries, runtimeStops))
    await waitAtMost(patience, Promise.all(stopped))
  },
  { isWork: true },
)

/** Whether a prompt would have to wait. Throws if it must not wait, or if the runtime stops. */
export function check({ sessionId, whenBusy }: { sessionId: string; whenBusy?: WhenBusy }): boolean {
  const { bySession, isStopped } = queues()
  if (isStopped) throw new Interrupted(sessionId, AbortSignal.abort(runtimeStops))
  const isBusy = bySession.has(sessionId)
  if (isBusy && whenBusy === "refuse") throw new SessionRecord.Busy(sessionId, "with another prompt")
  return isBusy
}

/** Run `work` when the session is free. It must end soon after its signal aborts. With `steering` it goes before the
 * waiting prompts, and `takeSteering` may join it to the running one. */
export async function enter<T, S = never>(
  options: {
    sessionId: string
    whenBusy?: WhenBusy
    steering?: S
    promptId?: string | undefined
    /** Throws `NotJoined` instead of running the work. */
    onlyJoins?: boolean | undefined
  },
  work: (abort: AbortController) => Promise<T>,
): Promise<T> {
  check(options)
  const { sessionId, steering, promptId, onlyJoins } = options
  const { bySession } = queues()
  const entries = bySession.get(sessionId) ?? []
  bySession.set(sessionId, entries)
  // A prompt may continue after the HTTP request that brought it is answered.
  const release = Instance.hold()
  const abort = new AbortController()
  const { promise: done, resolve } = Promise.withResolvers<T>()
  const mine: Entry = {
    abort,
    start: () => resolve(onlyJoins ? Promise.reject(new NotJoined(sessionId)) : work(abort)),
    join: (other) => resolve(other.done as Promise<T>),
    steering,
    promptId,
    joined: new Set(),
    done,
  }
  if (steering === undefined || !entries.length) entries.push(mine)
  else entries.splice(placeOfSteering(entries), 0, mine)
  if (entries[0] === mine) mine.start()
  try {
    return await done
  } finally {
    leave(bySession, sessionId, mine)
    release()
  }
}

/** Joins the next steering prompt, in the order of arrival, to the running one: both end together. Prompts join one at
 * a time: if the running prompt fails, the others run on their own. A prompt that may not join runs next, and those
 * behind it wait. */
export function takeSteering<S>(sessionId: string, mayJoin: (prompt: S) => boolean): S | undefined {
  const { bySession } = queues()
  const [running, ...waiting] = bySession.get(sessionId) ?? []
  const next = waiting.find(({ steering, abort }) => steering !== undefined && !abort.signal.aborted)
  if (!next || !mayJoin(next.steering as S)) return undefined
  leave(bySession, sessionId, next)
  if (next.promptId) running!.joined.add(next.promptId)
  next.join(running!)
  return next.steering as S
}

/** Stop the running prompt of a session and all waiting ones. Returns whether there was any. */
export function abort(sessionId: string): boolean {
  const { bySession, elsewhere } = queues()
  const entries = bySession.get(sessionId)?.map(({ abort }) => abort) ?? []
  const others = [...elsewhere].flatMap(([ending, id]) => (id === sessionId ? [ending] : []))
  const all = [...entries, ...others]
  for (const ending of all) ending.abort("it was aborted")
  return all.length > 0
}

/** For a prompt that an adapter answers, perhaps without this queue: `abort` ends it too. If the adapter does not stop then,
 * its answer is given up. */
export async function elsewhere<T>(sessionId: string, answer: () => Promise<T>): Promise<T> {
  const { elsewhere } = queues()
  const ending = new AbortController()
  elsewhere.set(ending, sessionId)
  try {
    return await orGivenUp(answer(), { signal: ending.signal, after: adapterPatience })
  } catch (error) {
    throw error === ending.signal.reason ? new Interrupted(sessionId, ending.signal) : error
  } finally {
    elsewhere.delete(ending)
  }
}

/** Stop one waiting prompt. Returns false, and does nothing, if it runs or has joined the running one. */
export function abortWaiting(sessionId: string, promptId: string): boolean {
  const [running, ...waiting] = queues().bySession.get(sessionId) ?? []
  if (running?.promptId === promptId || running?.joined.has(promptId)) return false
  for (const entry of waiting) if (entry.promptId === promptId) entry.abort.abort("it was removed")
  return true
}

/** Stop a session and wait until nothing of it runs here. */
export async function end(sessionId: string): Promise<void> {
  await stop(queues().bySession.get(sessionId) ?? [], "it was removed")
}

/** Change a session while no prompt runs, in this process or another: the session is busy meanwhile. Afterwards its old
 * state is restored, with the result of `after`. Without a `tip` there, the next prompt reads the whole session. A
 * busy session throws `Session.Busy`. */
export async function whileBusy<T>(
  options: { sessionId: string; after?: () => Change },
  work: (session: SessionRecord.Info, tip: Tip | undefined) => Promise<T>,
): Promise<T> {
  const { session, before, kept, lease } = await SessionRecord.claim(options.sessionId)
  const { tip, ...state } = before
  let change: Change = state
  return Worker.run(lease, async () => {
    try {
      await kept
      const result = await work(session, tip)
      change = { ...state, ...options.after?.() }
      return result
    } finally {
      await SessionRecord.update(session, (draft) => {
        delete draft.owner
        Object.assign(draft, change)
      })
    }
  }).finally(() => Worker.release(lease))
}

/** The place after the running prompt and the prompts that already steer. */
function placeOfSteering(entries: Entry[]): number {
  const place = entries.findIndex((entry, i) => i > 0 && entry.steering === undefined)
  return place < 0 ? entries.length : place
}

/** `bySession` is passed in: the instance of a prompt may be gone before the prompt ends. */
function leave(bySession: Map<string, Entry[]>, sessionId: string, mine: Entry): void {
  const entries = bySession.get(sessionId) ?? []
  const place = entries.indexOf(mine)
  if (place < 0) return
  entries.splice(place, 1)
  if (!entries.length) bySession.delete(sessionId)
  else if (place === 0) entries[0]!.start()
}

async function stop(entries: Entry[], why: string): Promise<void> {
  const all = [...entries]
  for (const { abort } of all) abort.abort(why)
  await Promise.allSettled(all.map(({ done }) => done))
}

function reasonOf({ reason }: AbortSignal): string {
  if ((reason as Error | undefined)?.name === "TimeoutError") return "its time was up"
  return typeof reason === "string" ? reason : "it was aborted"
}
