// Data of a panel that stays true: read when the panel opens, and again after events that may have changed it. However many
// events come, one read runs at a time, and none starts within a moment of the last event that asked for one.
import { useCallback, useEffect, useRef, useState } from "preact/hooks"
import type { StreamEvent } from "#client/client.ts"
import { listen } from "#edge/web/store/live.ts"
import type { OpenSession } from "#edge/web/store/open-session.ts"

/** Milliseconds between an event and the read: events come in groups. */
const delay = 250

type Own = Extract<StreamEvent, { payload: object }>
export type Live<T> = { value: T | undefined; problem: string | undefined; reload(): void }

/** `load` gets the client and the id by closure. `types`: events of the session, or of its tasks, that change the data. */
export function useLive<T>(
  open: OpenSession,
  load: () => Promise<T>,
  types: readonly Own["type"][],
): Live<T> {
  const [state, setState] = useState<Omit<Live<T>, "reload">>({ value: undefined, problem: undefined })
  const work = useRef({ isRunning: false, isWanted: false, isClosed: false, timer: 0 }).current
  const loader = useRef(load)
  loader.current = load

  const reload = useCallback(() => {
    work.isWanted = true
    if (work.isRunning || work.isClosed) return
    work.isRunning = true
    void readWhileWanted()
  }, [])

  async function readWhileWanted(): Promise<void> {
    while (work.isWanted && !work.isClosed) {
      work.isWanted = false
      const read = await loader.current().then(
        (value) => ({ value, problem: undefined }),
        (error: Error) => ({ problem: error.message }),
      )
      if (!work.isClosed) setState((last) => ({ ...last, ...read }))
    }
    work.isRunning = false
  }

  useEffect(() => {
    work.isClosed = false
    const stop = listen((event) => {
      if (!isNews(event, open.id, types) || work.timer) return
      work.timer = window.setTimeout(() => {
        work.timer = 0
        reload()
      }, delay)
    })
    reload()
    return () => {
      stop()
      clearTimeout(work.timer)
      Object.assign(work, { isClosed: true, timer: 0 })
    }
  }, [open])
  return { ...state, reload }
}

/** After a gap, anything may have changed. */
function isNews(event: StreamEvent, id: string, types: readonly Own["type"][]): boolean {
  if (event.type === "gap") return true
  if (event.type === "connected") return event.isResumed
  if (!("payload" in event) || !types.includes(event.type)) return false
  const { sessionId, session } = event.payload as {
    sessionId?: string
    session?: { id: string; taskOf?: { sessionId: string } }
  }
  return sessionId === id || session?.id === id || session?.taskOf?.sessionId === id
}
