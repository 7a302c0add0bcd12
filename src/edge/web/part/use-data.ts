// Data of a view: read when the view opens or its subject changes, and again after events that may have changed it. One read
// runs at a time, however many events come.
import { useEffect, useRef, useState } from "preact/hooks"
import type { StreamEvent } from "#client/client.ts"
import { listen } from "#edge/web/store/live.ts"

export type Data<T> = { value?: T; error?: string; reload(): void }

/** `subject`: what `load` depends on. `isNews`: whether an event may have changed the data. */
export function useData<T>(
  load: () => Promise<T>,
  subject: readonly unknown[],
  isNews: (event: StreamEvent) => boolean = () => false,
): Data<T> {
  const [state, setState] = useState<{ value?: T; error?: string }>({})
  const again = useRef(() => {})
  useEffect(() => {
    let isOver = false
    let isRunning = false
    let isWanted = false
    const read = async () => {
      isWanted = true
      if (isRunning) return
      isRunning = true
      while (isWanted && !isOver) {
        isWanted = false
        const next = await load().then(
          (value) => ({ value }),
          (error: Error) => ({ error: error.message }),
        )
        // An answer for a subject that is no longer shown must not replace the present one.
        if (!isOver) setState(next)
      }
      isRunning = false
    }
    again.current = () => void read()
    void read()
    const stop = listen((event) => {
      const isMissing = event.type === "gap" || (event.type === "connected" && event.isResumed)
      if (isMissing || isNews(event)) void read()
    })
    return () => {
      isOver = true
      stop()
    }
  }, subject)
  return { ...state, reload: () => again.current() }
}
