// Aborts a request that has gone silent, or whose prompt is over.
import { NamedError } from "#util/error.ts"

export class Stalled extends NamedError {
  constructor(seconds: number) {
    super("Session.Stalled", `The model sent nothing for ${seconds} s.`, { seconds })
  }
}

/** `seen` reports that data arrived. The caller must call `stop`. */
export type Watchdog = Readonly<{ signal: AbortSignal; seen(): void; stop(): void }>

export function createWatchdog(outer: AbortSignal, stall: number): Watchdog {
  const controller = new AbortController()
  const end = () => controller.abort(outer.reason)
  const timer = setTimeout(() => controller.abort(new Stalled(stall / 1000)), stall)
  // Not AbortSignal.any: its listeners on the signal of a long prompt would pile up turn by turn.
  outer.addEventListener("abort", end, { once: true })
  return Object.freeze({
    signal: controller.signal,
    seen: () => void timer.refresh(),
    stop() {
      clearTimeout(timer)
      outer.removeEventListener("abort", end)
    },
  })
}
