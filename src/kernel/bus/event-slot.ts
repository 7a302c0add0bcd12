// A folder of the event log for one process. The operating system holds its lock and frees it when the process dies. Ids
// are reserved on disk in advance, so that none is assigned twice, not even after a power cut.
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"

export type Slot = Readonly<{
  directory: string
  /** Ids of this slot are higher than this, and lower than those of the next slot. */
  floor: number
  /** The highest id that may have been assigned. */
  reserved: number
  /** Whether all events of the previous run are on disk: it stopped cleanly, or its process died without a reboot. */
  complete: boolean
  /** Whether the folder on the disk is still the one that was taken. */
  isOurs(): boolean
  /** Create the folder again after it was removed. Throws if another process has taken it meanwhile. */
  restore(): void
  reserve(id: number): void
  /** Record that events are missing on disk. Removes a file, which also works on a full disk. */
  markIncomplete(): void
  release(lastId: number): void
}>

type Lock = { inode: bigint | undefined; close(): void }

const slots = 1000
const idsPerSlot = 1e12
const locked = 5
const stopped = "stopped"

/** Take the first free slot of a folder. */
export function takeSlot(root: string): Slot {
  for (let number = 0; number < slots; number++) {
    const directory = join(root, String(number))
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    const lock = takeLock(directory)
    if (lock) return openSlot(directory, number * idsPerSlot, lock)
  }
  throw new Error(`All ${slots} slots of ${root} are taken by running servers`)
}

function openSlot(directory: string, floor: number, taken: Lock): Slot {
  const file = join(directory, "reserved")
  // A file of its own: it can be removed even if the disk is full.
  const writer = join(directory, "writer")
  const reserved = readText(file)
  const lastWriter = readText(writer)
  let named = false
  let lock = taken
  const isOurs = () => inodeOf(join(directory, "lock")) === lock.inode
  return Object.freeze({
    directory,
    floor,
    reserved: Math.max(floor, Number(reserved) || 0),
    complete:
      reserved === undefined || lastWriter === stopped || (lastWriter ?? "") === (bootId() || "unknown"),
    isOurs,
    restore() {
      mkdirSync(directory, { recursive: true, mode: 0o700 })
      if (isOurs()) return
      // If `reserved` exists, another server has used the folder, and its clients have ids from there.
      const again = existsSync(file) ? undefined : takeLock(directory)
      if (!again) throw new Error("the folder was removed, and another server has taken it")
      lock.close()
      lock = again
      named = false
    },
    reserve(id: number) {
      if (!named) replace(writer, bootId())
      named = true
      replace(file, String(id))
    },
    markIncomplete() {
      named = false
      // If another server has taken the folder, its events are complete.
      if (isOurs()) rmSync(writer, { force: true })
    },
    release(lastId: number) {
      try {
        replace(file, String(lastId))
        if (named) replace(writer, stopped)
      } finally {
        lock.close()
      }
    },
  })
}

/** Undefined if another process holds the lock. */
function takeLock(directory: string): Lock | undefined {
  const path = join(directory, "lock")
  const database = new DatabaseSync(path, { timeout: 0 })
  try {
    database.exec("BEGIN EXCLUSIVE")
    return { inode: inodeOf(path), close: () => database.close() }
  } catch (error) {
    database.close()
    if ((error as { errcode?: number }).errcode === locked) return undefined
    throw error
  }
}

/** While the lock is open, no other file gets its inode. */
function inodeOf(path: string): bigint | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false })?.ino
}

/** After a power cut the file has the old content or the new one. */
function replace(file: string, text: string) {
  const temporary = `${file}.new`
  const fd = openSync(temporary, "w", 0o600)
  try {
    writeFileSync(fd, text)
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
  renameSync(temporary, file)
  const folder = openSync(join(file, ".."), "r")
  fsyncSync(folder)
  closeSync(folder)
}

/** Identifies this boot: files that were not synced survive the end of a process, but not a reboot. Empty if unknown. */
function bootId(): string {
  return readText("/proc/sys/kernel/random/boot_id")?.trim() ?? ""
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return undefined
  }
}
