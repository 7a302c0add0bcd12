// Numbers the events of all instances of this process and delivers them. Ids only grow; the server's event log, which
// survives restarts, sets where they continue.
import { AsyncResource } from "node:async_hooks"
import * as Log from "#kernel/process/log.ts"
import { errorText } from "#util/error.ts"

/** `id` is missing on live events, which are never replayed. */
export type Event<P = unknown> = { id?: number; type: string; time: number; directory: string; payload: P }

const handlers = new Set<(event: Event) => unknown>()
const waiting: (() => void)[] = []
let delivering = false
let lastId = 0

export function subscribe(handler: (event: Event) => unknown): () => void {
  handlers.add(handler)
  return () => void handlers.delete(handler)
}

/** The number of subscribers, to find leaks. */
export function listeners(): number {
  return handlers.size
}

/** The id of the last event that has one. */
export function newestId(): number {
  return lastId
}

/** Continue the ids after those of an earlier run. */
export function continueAfter(id: number): void {
  lastId = Math.max(lastId, id)
}

export function stamp<P>(event: { type: string; directory: string; payload: P; live: boolean }): Event<P> {
  const { type, directory, payload } = event
  return { ...(event.live ? {} : { id: ++lastId }), type, time: Date.now(), directory, payload }
}

/** Sends events one after another: all subscribers get an event before the next one, even if a subscriber publishes. */
export function inTurn(send: () => void): void {
  waiting.push(delivering ? AsyncResource.bind(send) : send)
  if (delivering) return
  delivering = true
  try {
    for (let next = waiting.shift(); next; next = waiting.shift()) next()
  } finally {
    delivering = false
  }
}

export function broadcast(event: Event): void {
  for (const handler of [...handlers]) deliver(handler, event)
}

/** Call one handler and log what it throws, now or later, so that the other handlers still run. Returns whether it
 * succeeded. */
export function deliver(handler: (event: Event) => unknown, event: Event): boolean | Promise<boolean> {
  try {
    const result = handler(event)
    if (!(result instanceof Promise)) return true
    return result.then(
      () => true,
      (error) => failed(event, error),
    )
  } catch (error) {
    return failed(event, error)
  }
}

function failed(event: Event, error: unknown): false {
  Log.error("an event subscriber failed", { type: event.type, error: errorText(error) })
  return false
}
