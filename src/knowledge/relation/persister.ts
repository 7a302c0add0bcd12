// Passes the content of a store to its persist function, one call at a time: changes during a call are passed on
// afterwards, once. A failure loses nothing, because the store still has everything.
import { setImmediate } from "node:timers/promises"
import * as Log from "#kernel/process/log.ts"
import { errorText, NamedError } from "#util/error.ts"

class PersistFailed extends NamedError {
  constructor(reason: string, cause?: unknown) {
    super(
      "Memory.PersistFailed",
      `What the store holds could not be persisted: ${reason}. Nothing of it is lost.`,
      {},
      { cause },
    )
  }
}

/** Milliseconds after which waiting callers get an error. */
const patience = 30_000

export function createPersister<T>(take: () => T, onPersist?: (items: T) => void | Promise<void>) {
  let running: Promise<unknown> | undefined
  let next: Promise<void> | undefined

  /** Asynchronous only if the callback is. Throws `PersistFailed`, or rejects with it. */
  function persist(): void | Promise<void> {
    if (!onPersist) return
    if (!running && !next) return start(onPersist)
    next ??= afterwards(onPersist)
    return patiently(next)
  }

  /** In a new turn of the event loop: a callback that changes the store each time must not block the program. */
  async function afterwards(callback: (items: T) => void | Promise<void>): Promise<void> {
    await Promise.all([running, setImmediate()])
    next = undefined
    return start(callback)
  }

  /** After a change: nobody waits for it, and errors are logged. */
  function persistSoon(): void {
    // The next call includes this change.
    if (next) return
    try {
      persist()?.catch(report)
    } catch (error) {
      report(error)
    }
  }

  function start(callback: (items: T) => void | Promise<void>): void | Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    running = promise
    const end = () => {
      running = undefined
      resolve()
    }
    let work: void | Promise<void>
    try {
      work = callback(take())
    } catch (error) {
      end()
      throw new PersistFailed(errorText(error), error)
    }
    if (typeof work?.then !== "function") return end()
    const done = Promise.resolve(work)
      .catch((error: unknown) => {
        throw new PersistFailed(errorText(error), error)
      })
      .finally(end)
    return patiently(done)
  }

  return { persist, persistSoon }
}

/** A call that hangs blocks later ones: an older state must not overwrite a newer one. */
function patiently(work: Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new PersistFailed(`onPersist has not ended after ${patience / 1000} s`))
    const timer = setTimeout(late, patience)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

function report(error: unknown): void {
  Log.warn("changes could not be persisted", { error: errorText(error) })
}
