// Opens a store: the lock of all processes and the shared state, then recovery from the journal.
import { accessSync, constants, mkdirSync } from "node:fs"
import { join } from "node:path"
import * as Log from "#kernel/process/log.ts"
import { Locked } from "./errors.ts"
import type { Folders } from "./files.ts"
import { openState, type Segments, type StateFile } from "./journal-files.ts"
import { createLock, type Lock } from "./lock.ts"
import { recover } from "./recover.ts"

type Opened = { lock: Lock; state: StateFile }

/** For this many milliseconds after a failed wait, callers of this process wait only for `shortWait` milliseconds. An
 * ordinary commit of another process takes less. */
const shortWaitPeriod = 2_000
const shortWait = 250

export type Opening = {
  /** Opens once. */
  open(): Promise<Opened>
  /** The open handles. If somebody has removed the store, it is opened again. */
  reopen(): Promise<Opened>
  /** Wait for the lock. A command that reads and writes several times fails five seconds after its first wait, not
   * after several waits of five seconds. */
  acquire(lock: Lock): Promise<void>
  close(): Promise<void>
}

export function createOpening(folders: Folders, segments: Segments): Opening {
  let opening: Promise<Opened> | undefined
  /** When a caller of this process last waited in vain. */
  let gaveUpAt = Number.NEGATIVE_INFINITY

  return Object.freeze({
    open,
    acquire,
    async reopen() {
      const known = await opening?.catch(() => undefined)
      if (known?.state.isInPlace()) return known
      if (known) {
        Log.warn("the store was removed while it was open and is created again", { folder: folders.journal })
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
      await lock.acquire(performance.now() - gaveUpAt < shortWaitPeriod ? shortWait : undefined)
    } catch (error) {
      if (error instanceof Locked && performance.now() - gaveUpAt >= shortWaitPeriod)
        gaveUpAt = performance.now()
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
