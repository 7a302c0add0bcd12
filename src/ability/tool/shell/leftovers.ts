// What a command left outside of its group goes on when the command is over, as a daemon does. When the turn is broken off
// it ends, as all that the turn started.
import * as Processes from "./processes.ts"

/** The marks of the commands that are over, by the signal of their turn. */
const left = new WeakMap<AbortSignal, Set<string>>()

/** End what carries the mark of a command that is over, when the signal says so. */
export function endLeftovers(mark: string, signal: AbortSignal): void {
  // Whoever stopped the command has ended it with all that it started.
  if (signal.aborted) return
  const known = left.get(signal)
  if (known) return void known.add(mark)
  const marks = new Set([mark])
  left.set(signal, marks)
  signal.addEventListener("abort", () => void Processes.endMarked((found) => marks.has(found)), {
    once: true,
  })
}
