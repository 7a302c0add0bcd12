// What a writer keeps open: the lock of all processes and the state that they share. Opening brings the record files
// up to date with the journal.
import { accessSync, constants, mkdirSync } from "node:fs"
import { join } from "node:path"
import * as Log from "../log.ts"
import type { Folders } from "./files.ts"
import { createLock, type Lock } from "./lock.ts"
import { recover } from "./recover.ts"
import type { Segments } from "./segments.ts"
import { openState, type StateFile } from "./state.ts"

type Opened = { lock: Lock; state: StateFile }

export type Opening = {
  /** Opens once. */
  open(): Promise<Opened>
  /** What is open, unless somebody has removed the store under us; then it is opened again. */
  reopen(): Promise<Opened>
  close(): Promise<void>
}

export function createOpening(folders: Folders, segments: Segments): Opening {
  let opening: Promise<Opened> | undefined

  return Object.freeze({
    open,
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
      if (!lock.tryAcquire()) await lock.acquire()
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

  function letGo({ lock, state }: Opened) {
    opening = undefined
    segments.close()
    lock.close()
    state.close()
  }
}
