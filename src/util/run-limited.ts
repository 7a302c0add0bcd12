// Runs code of a person in this thread, for a limited time. The inspector of V8 ends whatever its expression calls: loops and
// regular expressions, also in functions from outside. It takes 0.02 ms; a time limit of `node:vm` starts a thread each time.
import type { Session } from "node:inspector"

const key = Symbol.for("vitamin.limited")
const expression = `void globalThis[Symbol.for("vitamin.limited")]()`
const place = globalThis as { [key]?: () => void }
let session: Session | undefined

/** Undefined if the time was up. What the work has begun is then left as it is: no `finally` has run. */
export function runLimited<T>(work: () => T, milliseconds: number): { result: T } | undefined {
  session ??= connect()
  let ended: { result: T } | { error: unknown } | undefined
  let refusal: Error | null = null
  place[key] = () => {
    try {
      ended = { result: work() }
    } catch (error) {
      ended = { error }
    }
  }
  // Without another thread, the answer has come when `post` returns.
  session.post("Runtime.evaluate", { expression, timeout: milliseconds }, (error) => {
    refusal = error
  })
  delete place[key]
  if (!ended) return timeWasUp(refusal)
  if ("error" in ended) throw ended.error
  return ended
}

function connect(): Session {
  const { Session } = process.getBuiltinModule("node:inspector")
  const made = new Session()
  made.connect()
  return made
}

/** Any other refusal is no fault of the work. */
function timeWasUp(refusal: Error | null): undefined {
  if (!refusal?.message.includes("Execution was terminated"))
    throw new Error(`V8 could not run code for a limited time: ${refusal?.message ?? "it gave no reason"}`)
}
