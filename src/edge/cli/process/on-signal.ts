// Signals that ask to stop. A terminal signals the whole process group and a launcher forwards the signal, so two
// signals at nearly the same time count as one; a later one ends the program at once.
import { exitCodes } from "./exit.ts"

const signals = {
  SIGINT: exitCodes.interrupted,
  SIGHUP: exitCodes.interrupted,
  SIGTERM: exitCodes.terminated,
} as const
const sameTime = 500

/** Call `stop` at the first signal, with the exit code that belongs to it; a later one ends the program at once. Returns
 * a function that removes the listeners. */
export function onSignal(stop: (exitCode: number) => void): () => void {
  let first: number | undefined
  const listeners = Object.entries(signals).map(([signal, exitCode]) => {
    const listener = () => {
      if (first === undefined) {
        first = performance.now()
        stop(exitCode)
      } else if (performance.now() - first > sameTime) process.exit(exitCode)
    }
    process.on(signal, listener)
    return [signal, listener] as const
  })
  return () => {
    for (const [signal, listener] of listeners) process.off(signal, listener)
  }
}
