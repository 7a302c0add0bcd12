// Opens a store: the lock of all processes, the shared state, and recovery. Recovery runs at an open, and when a process
// died inside a commit: the journal is authoritative, and the last journaled value of every record is written wherever
// its file differs.
import { accessSync, constants, fdatasyncSync, mkdirSync } from "node:fs"
import { join } from "node:path"
import * as Log from "#kernel/process/log.ts"
import { errorText } from "#util/error.ts"
import { Locked } from "./errors.ts"
import { type Folders, isJson, quarantineFile, readRecordBytes, removeLeftovers } from "./files.ts"
import { type Content, type Entry, headerBytes, recordSize, writeRecord } from "./journal.ts"
import { openState, type Segments, type State, type StateFile } from "./journal-files.ts"
import { createLock, type Lock } from "./lock.ts"
import { placeRecord } from "./placing.ts"

type Parts = { folders: Folders; segments: Segments; states: StateFile }
type Opened = { lock: Lock; state: StateFile }

/** After a failed wait, callers of this process wait only for `shortWait` for this many milliseconds. An ordinary
 * commit of another process is shorter. */
const memory = 2_000
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

/** Apply the journal to the files. Call only under the lock. Returns the state of the journal. */
export function recover({ folders, segments, states }: Parts): State {
  removeLeftovers(folders)
  const known = states.read()
  const found = segments.readAll()
  const ahead = recoverRecords(folders, found, lostNewest(found, known))
  const newest = found.at(-1) ?? { generation: segments.begin(1).generation, entries: [], end: headerBytes }
  const { generation, entries, end } = newest
  const checkpoint = known?.generation === generation ? known.checkpoint : Math.max(0, generation - 2)
  const state = { generation, end, records: entries.length, checkpoint }
  if (ahead.length) journalAgain(ahead, segments, state)
  states.write(state)
  return state
}

/** Whether the only readable segment is older than a missing or damaged one. A generation without acknowledged writes
 * is no loss: its header may never have reached the disk. */
function lostNewest([only, another]: Content[], known: State | undefined): boolean {
  if (!only || another) return false
  return known ? known.generation > only.generation && known.end > headerBytes : only.generation > 1
}

/** Returns the records whose file is newer than a journal that lost its newest segment. */
function recoverRecords(folders: Folders, segments: Content[], lostNewest: boolean): Entry[] {
  const last = new Map(segments.flatMap(({ entries }) => entries).map((entry) => [entry.path, entry]))
  const ahead: Entry[] = []
  let behind = 0
  for (const { path, bytes } of last.values()) {
    const found = readRecordBytes(folders, path)
    const kept = found && "bytes" in found ? found.bytes : undefined
    if (kept && bytes ? kept.equals(bytes) : !found && !bytes) continue
    if (lostNewest && kept && isJson(kept.toString())) ahead.push({ path, bytes: kept })
    else if (place(folders, { path, bytes }, found !== undefined && "reason" in found)) behind++
  }
  if (behind) Log.info("records were brought up to date from the journal", { records: behind })
  return ahead
}

/** One record that cannot be written does not stop the others. */
function place(folders: Folders, { path, bytes }: Entry, isBroken: boolean): boolean {
  try {
    if (isBroken) quarantineFile(folders, path)
    placeRecord(folders, path, bytes)
    return true
  } catch (error) {
    Log.error("a record could not be brought up to date", { record: path, error: errorText(error) })
    return false
  }
}

/** Otherwise the next open would restore the older value. */
function journalAgain(entries: Entry[], segments: Segments, state: State) {
  const into = segments.use(state.generation)
  for (const { path, bytes } of entries) {
    writeRecord(into, state.end, path, bytes)
    state.end += recordSize(path, bytes)
    state.records++
  }
  fdatasyncSync(into.fd)
}
