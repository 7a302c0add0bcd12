// Bounds the garbage that a server holds. Left alone, V8 lets the young generation grow to 134 MB and the old one to four
// times of what is in use before it collects, which a busy server reaches although a tenth of that is alive.
import { PerformanceObserver } from "node:perf_hooks"
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8"

/** The old generation is collected when it has grown by so much, in percent. */
const growth = 70
/** Bytes from which on the young generation grows no more. It doubles each time, from 2 MB. */
const largeEnough = 32_000_000

/** V8 reads both flags whenever it sizes the heap, so that they can be set late. Not for the start path. */
export function boundHeap(): void {
  setFlagsFromString(`--heap-growing-percent=${growth}`)
  const observer = new PerformanceObserver(() => {
    if (youngBytes() < largeEnough) return
    setFlagsFromString("--semi-space-growth-factor=1")
    observer.disconnect()
  })
  observer.observe({ entryTypes: ["gc"] })
}

function youngBytes(): number {
  const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space")
  return young?.space_size ?? 0
}
