// Limits the garbage that a server or a terminal holds. By default V8 lets the young generation grow to 134 MB, and the old one to
// four times the live size, before it collects; a busy server reaches that although a tenth of it is alive.
import { PerformanceObserver } from "node:perf_hooks"
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8"

/** The old generation is collected when it has grown by this percentage. */
const growth = 70

/** The young generation stops growing at `young` bytes. It doubles each time, from 2 MB. V8 reads both flags whenever it sizes the heap, so that they can be set late. Not for the start path. */
export function boundHeap(young: number): void {
  setFlagsFromString(`--heap-growing-percent=${growth}`)
  const observer = new PerformanceObserver(() => {
    if (youngBytes() < young) return
    setFlagsFromString("--semi-space-growth-factor=1")
    observer.disconnect()
  })
  observer.observe({ entryTypes: ["gc"] })
}

/** Garbage goes back to the system after some idle seconds, and V8 sleeps from then on. Otherwise it waits for a pause that a
 * program which allocates nothing never has in its eyes, and wakes up every eight seconds. Not for a busy server, which
 * would collect each time. */
export function releaseWhenIdle(): void {
  setFlagsFromString("--optimize-for-size")
}

function youngBytes(): number {
  const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space")
  return young?.space_size ?? 0
}
