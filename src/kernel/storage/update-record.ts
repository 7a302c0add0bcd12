// An update of one record, the same for every backend: the draft, its change, and a second attempt if the record is broken.
import { AsyncResource } from "node:async_hooks"
import { Corrupt, InvalidData, type Key, NotFound } from "./errors.ts"
import type { Found } from "./files.ts"
import { parse, serialize } from "./store.ts"

type Parts<T> = {
  key: Key
  change: (draft: T) => unknown
  initial: Partial<T> | undefined
  /** Runs `apply` under the lock of the record and stores its result. It may be called again if the store was away. */
  submit: (apply: (current: () => Found) => string) => Promise<void>
  /** Repairs a broken record, or throws. */
  repair: () => Promise<unknown>
}

export async function updateRecord<T>({ key, change, initial, submit, repair }: Parts<T>): Promise<T> {
  const inContext = AsyncResource.bind(change)
  let value!: T
  const attempt = () =>
    submit((current) => {
      const found = current()
      if (!found && !initial) throw new NotFound(key)
      value = (found ? parse(key, found) : structuredClone(initial)) as T
      refuseAsync(key, inContext(value))
      return serialize(key, value)
    })
  await attempt().catch(async (error) => {
    if (!(error instanceof Corrupt)) throw error
    await repair()
    await attempt()
  })
  return value
}

/** The lock cannot wait for an asynchronous change. Its rejection must not end the process. */
function refuseAsync(key: Key, result: unknown) {
  if (!(result instanceof Promise)) return
  result.catch(() => {})
  throw new InvalidData(key, "the change of an update must not be asynchronous")
}
