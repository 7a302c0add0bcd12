// Runs code of a person for a limited time. `vm` interrupts everything that its script calls, also functions from outside.
import { createContext, Script } from "node:vm"
import { errorCode } from "#util/error.ts"

const milliseconds = 1_000

export function createLimit() {
  const script = new Script("work()")
  const place: { work?: () => void } = createContext({})
  return Object.freeze({
    milliseconds,
    /** Undefined if the time was up. What the work has begun is then left as it is: no `finally` has run. */
    run<T>(work: () => T): { result: T } | undefined {
      let value: { result: T } | undefined
      place.work = () => {
        value = { result: work() }
      }
      try {
        script.runInContext(place, { timeout: milliseconds })
      } catch (error) {
        if (errorCode(error) !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error
        return undefined
      }
      return value
    },
  })
}
