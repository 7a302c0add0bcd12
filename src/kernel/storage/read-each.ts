// Reads many records one after the other, without a promise for each, and yields to the event loop from time to time.
import { readFileSync } from "node:fs"
import { setImmediate } from "node:timers/promises"

type Found = { value: unknown }
type Reading = {
  /** Names are taken one by one: a name may depend on the records before it. */
  names: Iterable<string>
  fileOf: (name: string) => string
  /** Whether a record is on its way to the disk. */
  isChanging: (name: string) => boolean
  /** The slow path for a record that is changing, broken or gone; undefined if there is none. */
  readOne: (name: string) => Promise<Found | undefined>
  take: (value: unknown, name: string) => void
}

/** Milliseconds after which the event loop gets its turn. */
const turn = 8
/** A name that can be a part of a key as it is. */
const plain = /^[\w-]{1,200}$/

export async function readEach({ names, fileOf, isChanging, readOne, take }: Reading): Promise<void> {
  let end = performance.now() + turn
  for (const name of names) {
    const isQuick = plain.test(name) && !isChanging(name)
    const found = (isQuick && readQuickly(fileOf(name))) || (await readOne(name))
    if (found) take(found.value, name)
    if (performance.now() < end) continue
    await setImmediate()
    end = performance.now() + turn
  }
}

/** Undefined if anything is unusual. Invalid UTF-8 becomes replacement characters, which a valid record may also
 * contain. */
function readQuickly(file: string): Found | undefined {
  try {
    const text = readFileSync(file, "utf8")
    return text.includes("\ufffd") ? undefined : { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}
