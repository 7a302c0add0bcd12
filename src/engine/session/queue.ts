// The prompts of this instance: one at a time for each session, the next ones wait behind it.
import { setTimeout as sleep } from "node:timers/promises"
import { Instance } from "#kernel/instance.ts"
import { Interrupted } from "./interrupted.ts"
import { Busy } from "./session-record.ts"

type Entry = { done: Promise<unknown>; abort: AbortController }

/** Milliseconds that prompts get to end when the runtime stops. Then the parts that they use end without them. */
const patience = 3_000
const runtimeStops = "the runtime stops"
const queues = Instance.state(
  () => ({ bySession: new Map<string, Entry[]>(), isStopped: false }),
  async (queues) => {
    queues.isStopped = true
    const stopped = [...queues.bySession.values()].map((entries) => stop(entries, runtimeStops))
    await Promise.race([Promise.all(stopped), sleep(patience, undefined, { ref: false })])
  },
  { isWork: true },
)

/** Run `work` when the session is free. It must end soon after its signal says so. */
export async function enter<T>(
  options: { sessionId: string; whenBusy?: "queue" | "refuse" },
  work: (abort: AbortController) => Promise<T>,
): Promise<T> {
  const { sessionId, whenBusy } = options
  const { bySession: all, isStopped } = queues()
  if (isStopped) throw new Interrupted(sessionId, AbortSignal.abort(runtimeStops))
  const before = all.get(sessionId) ?? []
  if (before.length && whenBusy === "refuse") throw new Busy(sessionId, "with another prompt")
  // A prompt may go on after the call that brought it is answered.
  const release = Instance.hold()
  const abort = new AbortController()
  const done = Promise.allSettled([before.at(-1)?.done]).then(() => work(abort))
  const mine = { done, abort }
  all.set(sessionId, [...before, mine])
  try {
    return await done
  } finally {
    const others = all.get(sessionId)!.filter((entry) => entry !== mine)
    if (others.length) all.set(sessionId, others)
    else all.delete(sessionId)
    release()
  }
}

/** Stop what a session is doing, the prompts that wait included. Gives whether there was anything. */
export function abort(sessionId: string): boolean {
  const entries = queues().bySession.get(sessionId) ?? []
  for (const entry of entries) entry.abort.abort("it was aborted")
  return entries.length > 0
}

/** Stop a session and wait until nothing of it runs here. */
export async function end(sessionId: string): Promise<void> {
  await stop(queues().bySession.get(sessionId) ?? [], "it was removed")
}

async function stop(entries: Entry[], why: string): Promise<void> {
  for (const { abort } of entries) abort.abort(why)
  await Promise.allSettled(entries.map(({ done }) => done))
}
