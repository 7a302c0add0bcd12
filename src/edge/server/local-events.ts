// The events of one folder for a client in the same process. They wait in a queue that is bounded: a client that does not
// read gets a gap instead.
import type { Frame } from "#client/client.ts"
import * as GlobalBus from "#kernel/bus/global-bus.ts"
import * as Secret from "#kernel/secret/secret.ts"

type Event = NonNullable<Frame["event"]>

const maxWaiting = 20_000

/** Subscribes at once. Events before that are not stored here, so a client that asks for them gets a gap. */
export function openLocalEvents(options: {
  directory: string
  after?: number | undefined
  signal: AbortSignal
  closed: () => void
}): AsyncIterable<Frame> {
  const { directory, after, signal } = options
  let waiting: Frame[] = after === undefined || after === GlobalBus.newestId() ? [] : [gap(after)]
  let wake = () => {}
  const unsubscribe = GlobalBus.subscribe((event) => {
    if (event.directory !== directory) return
    if (waiting.length >= maxWaiting) waiting = [gap(firstId(waiting) - 1, event.id)]
    waiting.push({ id: event.id, event: Secret.redactCopy(event) as Event })
    wake()
  })
  const close = () => {
    if (isClosed) return
    isClosed = true
    unsubscribe()
    options.closed()
    wake()
  }
  let isClosed = false
  signal.addEventListener("abort", close, { once: true })
  if (signal.aborted) close()

  return (async function* () {
    try {
      while (!isClosed) {
        const taken = waiting
        waiting = []
        for (const frame of taken) {
          if (isClosed) return
          yield frame
        }
        if (!isClosed && waiting.length === 0)
          await new Promise<void>((resolve) => {
            wake = resolve
          })
      }
    } finally {
      close()
    }
  })()
}

function gap(after: number, from = GlobalBus.newestId() + 1): Frame {
  return { id: from - 1, event: { type: "gap", after, from } }
}

function firstId(frames: Frame[]): number {
  return frames.find(({ id }) => id !== undefined)?.id ?? GlobalBus.newestId() + 1
}
