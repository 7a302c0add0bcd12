// Open requests and sockets of persons. If a token is revoked, changed or expires, they are cut off: within a second if
// another process did it, at once if this one did. Nothing is checked while no person has anything open.
import type { Person } from "#kernel/person.ts"
import * as Log from "#kernel/process/log.ts"
import { errorText } from "#util/error.ts"
import * as PersonalToken from "./personal-token.ts"

export type Presence = Readonly<{
  /** Call `cutOff` when the person loses access; the returned function ends the watch. */
  watch(person: Person, cutOff: () => void): () => void
  /** Check all now. */
  check(): Promise<void>
  close(): void
}>

const every = 1_000

export function createPresence(): Presence {
  const open = new Map<() => void, Person>()
  let timer: NodeJS.Timeout | undefined

  function watch(person: Person, cutOff: () => void): () => void {
    // The same function may be passed twice.
    const entry = () => cutOff()
    open.set(entry, person)
    timer ??= setInterval(() => void check(), every).unref()
    return () => {
      open.delete(entry)
      if (open.size === 0) close()
    }
  }

  async function check(): Promise<void> {
    const byToken = Map.groupBy(open, ([, { tokenId }]) => tokenId)
    await Promise.all(
      [...byToken.values()].map(async (entries) => {
        const [, person] = entries[0]!
        if (await isValid(person)) return
        for (const [cutOff] of entries) {
          open.delete(cutOff)
          cutOff()
        }
      }),
    )
    if (open.size === 0) close()
  }

  function close(): void {
    clearInterval(timer)
    timer = undefined
  }

  return Object.freeze({ watch, check, close })
}

/** If the records cannot be read for a moment, nobody is cut off: new requests fail anyway. */
async function isValid(person: Person): Promise<boolean> {
  try {
    return (await PersonalToken.renew(person))?.role === person.role
  } catch (error) {
    Log.warn("a personal token could not be checked", { error: errorText(error) })
    return true
  }
}
