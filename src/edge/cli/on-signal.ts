// Signals that ask to stop. A terminal sends one to the whole group and a launcher passes it on, so that two at nearly the
// same time are one; a later one means that the person has lost patience.
import { exitCodes } from "./exit.ts"

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const
const sameTime = 500

/** Call `stop` at the first signal; a later one ends the program at once. Gives a function that ends the listening. */
export function onSignal(stop: () => void): () => void {
  let first: number | undefined
  const listener = () => {
    if (first === undefined) {
      first = performance.now()
      stop()
    } else if (performance.now() - first > sameTime) process.exit(exitCodes.interrupted)
  }
  for (const signal of signals) process.on(signal, listener)
  return () => {
    for (const signal of signals) process.off(signal, listener)
  }
}
