// Follows the event stream over any number of connections. Each event with an id arrives once and in order: a new
// connection continues after the last id that was seen. Live events, such as `message.delta`, have no id and are not
// replayed.
import { ClientError, isTemporary } from "./client-error.ts"
import type { Frame, Transport } from "./transport.ts"
import type { Event, GapEvent } from "./types.ts"

export type FollowOptions = {
  signal?: AbortSignal | undefined
  /** The id of an event: first replay what came after it. */
  after?: number | undefined
}

/** The stream is open. `isResumed` says that it was open before: live events in between are lost. */
export type Connected = { type: "connected"; isResumed: boolean }
/** The stream broke; `retryIn` milliseconds later the client tries again. */
export type Disconnected = { type: "disconnected"; error: ClientError; retryIn: number }
/** An event of the server, or a report about the stream itself. `gap`: events are missing, so what they told must be read
 * again. */
export type StreamEvent = Event | GapEvent | Connected | Disconnected

/** Milliseconds before the first try; each further one waits twice as long, up to `longest`. */
const shortest = 250
const longest = 15_000

export async function* followEvents(
  transport: Transport,
  { signal = new AbortController().signal, after }: FollowOptions,
): AsyncGenerator<StreamEvent, void> {
  let last = after
  let failures = 0
  let isResumed = false
  while (!signal.aborted) {
    const leaving = new AbortController()
    const either = AbortSignal.any([signal, leaving.signal])
    let error = streamEnded()
    try {
      const connection = await transport.connect({ after: last, signal: either })
      last ??= connection.cursor
      yield { type: "connected", isResumed }
      isResumed = true
      for await (const frame of connection.frames) {
        failures = 0
        const isKnown = isSeen(frame, last)
        if (frame.id !== undefined && !isKnown) last = frame.id
        if (frame.event && !isKnown) yield frame.event
      }
    } catch (thrown) {
      if (signal.aborted) return
      if (!isTemporary(thrown)) throw thrown
      error = thrown
    } finally {
      leaving.abort()
    }
    if (signal.aborted) return
    const retryIn = Math.round(Math.min(longest, shortest * 2 ** failures++) * (0.75 + Math.random() / 2))
    yield { type: "disconnected", error, retryIn }
    await pause(retryIn, signal)
  }
}

/** A gap is always new: after one, ids may start lower than before. */
function isSeen({ id, event }: Frame, last: number | undefined): boolean {
  return event?.type !== "gap" && id !== undefined && last !== undefined && id <= last
}

function streamEnded(): ClientError {
  return new ClientError({
    name: "Client.Disconnected",
    message: "The server ended the event stream.",
    status: 0,
  })
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      signal.removeEventListener("abort", done)
      resolve()
    }
    const timer = setTimeout(done, milliseconds)
    signal.addEventListener("abort", done)
    if (signal.aborted) done()
  })
}
