// Keeps the placeholders of protected paths between boundaries that follow one another: removing a folder that was just
// mounted on takes the kernel milliseconds.
import { fileSystemFor } from "./mounts.ts"
import { createPlaceholders, type Placeholders, removeLeftovers } from "./placeholders.ts"
import type { Policy } from "./policy.ts"

export type Places = Readonly<{
  /** Call it before each boundary. They are kept for a while after the last call. */
  use(policy: Policy): Promise<void>
  remove(): Promise<void>
}>

/** Milliseconds. */
const idle = 5_000

export function keepPlaces(): Places {
  let kept: Promise<Placeholders> | undefined
  let timer: NodeJS.Timeout | undefined

  async function use(policy: Policy): Promise<void> {
    clearTimeout(timer)
    kept ??= create(policy)
    await kept.catch((error) => {
      kept = undefined
      throw error
    })
    timer = setTimeout(remove, idle).unref()
  }

  async function remove(): Promise<void> {
    clearTimeout(timer)
    const last = kept
    kept = undefined
    await last?.then((places) => places.remove())
  }

  return Object.freeze({ use, remove })
}

async function create(policy: Policy): Promise<Placeholders> {
  await removeLeftovers()
  const { missing, places } = fileSystemFor(policy)
  return createPlaceholders(missing, places)
}
