// What a writer keeps open: the lock of all processes and the state that they share. Opening brings the record files
// up to date with the journal.
import { accessSync, constants, mkdirSync } from "node:fs"
import { join } from "node:path"
import * as Log from "#kernel/process/log.ts"
import { Locked } from "./errors.ts"
import type { Folders } from "./files.ts"
import { createLock, type Lock } from "./lock.ts"
import { recover } from "./recover.ts"
import type { Segments } from "./segments.ts"
import { openState, type StateFile } from "./state.ts"

type Opened = { lock: Lock; state: StateFile }

/** Milliseconds after a wait in vain in which callers of this process wait only for `shortWait`. That is more than an
 * ordinary commit of another process takes. */
const memory = 2_000
const shortWait = 250

export type Opening = {
  /** Opens once. */
  open(): Promise<Opened>
  /** What is open, unless somebody has removed the store under us; then it is opened again. */
  reopen(): Promise<Opened>
  /** Wait for the lock. A command reads and then writes several times: it fails five seconds after the lock was first
   * waited for, not after as many waits of five seconds. */
  acquire(lock: Lock): Promise<void>
  close(): Promise<void>
}

export function createOpening(folders: Folders, segments: Segments): Opening {
  let opening: Promise<Opened> | undefined
  /** When somebody here last waited for the lock in vain. */
  let gaveUpAt = Number.NEGATIVE_INFINITY

  return Object.freeze({
    open,
    acquire,
    async reopen() {
      const known = await opening?.catch(() => undefined)
      if (known?.state.isInPlace()) return known
      if (known) {
        Log.warn("the store was removed while it was open and is made again", { folder: folders.journal })
        letGo(known)
      }
      return open()
    },
    async close() {
      if (opening) letGo(await opening)
    },
  })

  function open(): Promise<Opened> {
    if (!opening) {
      opening = openNow()
      opening.catch(() => {
        opening = undefined
      })
    }
    return opening
  }

  async function openNow(): Promise<Opened> {
    for (const folder of [folders.records, folders.temporary, folders.journal])
      mkdirSync(folder, { recursive: true, mode: 0o700 })
    accessSync(folders.journal, constants.W_OK)
    const lock = await createLock(join(folders.journal, "lock"))
    let state: StateFile | undefined
    try {
      state = openState(join(folders.journal, "state"))
      await acquire(lock)
      try {
        recover({ folders, segments, states: state })
      } finally {
        lock.release()
      }
      return { lock, state }
    } catch (error) {
      lock.close()
      state?.close()
      segments.close()
      throw error
    }
  }

  async function acquire(lock: Lock): Promise<void> {
    if (lock.tryAcquire()) return
    try {
      await lock.acquire(performance.now() - gaveUpAt < memory ? shortWait : undefined)
    } catch (error) {
      if (error instanceof Locked && performance.now() - gaveUpAt >= memory) gaveUpAt = performance.now()
      throw error
    }
  }

  function letGo({ lock, state }: Opened) {
    opening = undefined
    segments.close()
    lock.close()
    state.close()
  }
}
