// A stream of one task: the task as it is, then every update in order, until a state that ends the stream. Any number of
// streams can follow a task. One whose client does not read is ended; the client can subscribe again.
import { type StreamResponse, TaskState } from "@a2a-js/sdk"
import { stateOf, taskUpdate, withHistory } from "./objects.ts"
import type { Live } from "./task-changes.ts"

type Options = {
  ends: (state: TaskState) => boolean
  /** Aborted when the client leaves. */
  signal: AbortSignal
  historyLength?: number | undefined
}

const maxWaiting = 1_000

export async function* followTask(
  live: Live,
  { ends, signal, historyLength }: Options,
): AsyncGenerator<StreamResponse, void, undefined> {
  const waiting: StreamResponse[] = []
  let wake = Promise.withResolvers<void>()
  let isOver = false
  const end = () => {
    isOver = true
    wake.resolve()
  }
  const take = (update: StreamResponse) => {
    waiting.push(update)
    wake.resolve()
    if (waiting.length > maxWaiting) end()
  }
  // From here on no update is missed: the task that is sent first is the one before the next update.
  live.listeners.add(take)
  signal.addEventListener("abort", end, { once: true })
  void live.done.then(end)
  try {
    yield taskUpdate(withHistory(live.task, { historyLength }))
    if (!waiting.length && ends(stateOf(live.task))) return
    for (;;) {
      if (signal.aborted || waiting.length > maxWaiting) return
      const update = waiting.shift()
      if (update) yield update
      else if (isOver) return
      else {
        await wake.promise
        wake = Promise.withResolvers()
      }
      if (update && ends(stateIn(update))) return
    }
  } finally {
    live.listeners.delete(take)
    signal.removeEventListener("abort", end)
  }
}

function stateIn({ payload }: StreamResponse): TaskState {
  const status = payload?.$case === "statusUpdate" ? payload.value.status : undefined
  return status?.state ?? TaskState.TASK_STATE_UNSPECIFIED
}
