// Recovers a store after a crash, when it is opened or when another process died inside a commit. The journal is
// authoritative: the last journaled value of every record is written if its file differs.
import { fdatasyncSync } from "node:fs"
import * as Log from "#kernel/process/log.ts"
import { errorText } from "#util/error.ts"
import { type Folders, isJson, quarantineFile, readRecordBytes, removeLeftovers } from "./files.ts"
import { type Content, type Entry, headerBytes, recordSize, writeRecord } from "./journal.ts"
import type { Segments, State, StateFile } from "./journal-files.ts"
import { placeRecord } from "./placing.ts"

type Parts = { folders: Folders; segments: Segments; states: StateFile }

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

/** Updates files from the journal. Returns the records whose file is newer, because the newest segment is lost. */
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

/** Appends the newer values to the journal. Otherwise the next open would restore the older ones. */
function journalAgain(entries: Entry[], segments: Segments, state: State) {
  const into = segments.use(state.generation)
  for (const { path, bytes } of entries) {
    writeRecord(into, state.end, path, bytes)
    state.end += recordSize(path, bytes)
    state.records++
  }
  fdatasyncSync(into.fd)
}
