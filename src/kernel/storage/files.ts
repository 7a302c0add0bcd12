// Records as plain JSON files, and the quarantine of broken ones: below `broken`, at the same paths as the records. A
// file leaves the quarantine when it is restored, or when its session is removed.
import { isUtf8 } from "node:buffer"
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmdirSync,
  rmSync,
} from "node:fs"
import { open } from "node:fs/promises"
import { dirname, join, relative, sep } from "node:path"
import { errorCode, errorText, isMissing } from "#util/error.ts"

export type Found = { text: string } | { reason: string } | undefined
type FoundBytes = { bytes: Buffer } | { reason: string } | undefined
export type Folders = { records: string; temporary: string; broken: string; journal: string }

/** A quarantined record: its key, where it is kept now, and how a person removes it. */
export type Quarantined = { key: string[]; place: string; removal: string }

/** Errors of a file that is there but cannot be read. */
const unreadable = new Set(["EACCES", "EPERM", "EISDIR"])
/** `name.1699999999999.json`: the record's name, and when it was quarantined. */
const quarantinedName = /^(.+)\.\d+\.json$/
export const headBytes = 2_000

export function foldersOf(root: string): Folders {
  const records = join(root, "storage")
  return {
    records,
    temporary: join(records, ".tmp"),
    broken: join(root, "broken"),
    journal: join(root, "journal"),
  }
}

export function fileOf(folders: Folders, path: string): string {
  return `${join(folders.records, path)}.json`
}

/** The text of a record, or why it cannot be one; undefined if there is none. */
export function readRecord(folders: Folders, path: string): Found {
  const found = readRecordBytes(folders, path)
  return found && "bytes" in found ? { text: found.bytes.toString() } : found
}

/** Like `readRecord`, for callers that only compare. */
export function readRecordBytes(folders: Folders, path: string): FoundBytes {
  try {
    const bytes = readFileSync(fileOf(folders, path))
    if (bytes.length === 0) return { reason: "it is empty" }
    return isUtf8(bytes) ? { bytes } : { reason: "it is not UTF-8" }
  } catch (error) {
    if (isMissing(error)) return undefined
    if (unreadable.has(errorCode(error) ?? "")) return { reason: errorText(error) }
    throw error
  }
}

/** The value of a record file; undefined if the file is missing, is not JSON, or may have invalid UTF-8 (a replacement
 * character). */
export function readQuickly(file: string): { value: unknown } | undefined {
  try {
    const text = readFileSync(file, "utf8")
    return text.includes("\ufffd") ? undefined : { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Make the present content of these records survive a power cut, their folders included. */
export async function syncRecords(folders: Folders, paths: Iterable<string>): Promise<void> {
  const files: string[] = []
  const directories = new Set<string>()
  for (const path of paths) {
    files.push(fileOf(folders, path))
    for (let folder = dirname(path); ; folder = dirname(folder)) {
      directories.add(join(folders.records, folder))
      if (folder === ".") break
    }
  }
  for (let i = 0; i < files.length; i += 16) await Promise.all(files.slice(i, i + 16).map(syncPath))
  await Promise.all([...directories].map(syncPath))
}

/** Move a broken record to the same path below `broken`. Returns its new path. */
export function quarantineFile(folders: Folders, path: string): string {
  const target = join(folders.broken, `${path}.${Date.now()}.json`)
  mkdirSync(dirname(target), { recursive: true, mode: 0o700 })
  renameSync(fileOf(folders, path), target)
  return target
}

/** Remove the folder of the records below a key. A folder with records stays. Only to be called under the lock. */
export function removeEmptyFolder(folders: Folders, path: string): void {
  try {
    rmdirSync(join(folders.records, path))
  } catch (error) {
    if (!isMissing(error) && errorCode(error) !== "ENOTEMPTY") throw error
  }
}

/** Remove the temporary files that a crash left. Only to be called under the lock, when nobody else is writing. */
export function removeLeftovers(folders: Folders): void {
  for (const name of readdirSync(folders.temporary))
    rmSync(join(folders.temporary, name), { force: true, recursive: true })
}

/** Names of the direct children, records and folders, sorted. */
export function listRecords(folders: Folders, path: string): string[] {
  const names = entriesIn(join(folders.records, path)).flatMap((entry) => {
    if (entry.name.startsWith(".")) return []
    if (entry.name.endsWith(".json")) return [entry.name.slice(0, -5)]
    return entry.isDirectory() ? [entry.name] : []
  })
  return [...new Set(names)].sort()
}

async function syncPath(path: string) {
  try {
    const handle = await open(path, "r")
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
  } catch (error) {
    if (!isMissing(error)) throw error
  }
}

/** The quarantined files at and below a prefix; the oldest of each record first. */
export function listQuarantined(folders: Folders, prefix: readonly string[]): Quarantined[] {
  const parent = join(folders.broken, ...prefix.slice(0, -1))
  const isOwn = (name: string) => prefix.length > 0 && quarantinedName.exec(name)?.[1] === prefix.at(-1)
  const own = entriesIn(parent).filter(({ name }) => isOwn(name))
  const found = [...own.map(({ name }) => join(parent, name)), ...filesBelow(join(folders.broken, ...prefix))]
  return found.sort().map((file) => {
    const path = relative(folders.broken, file).split(sep)
    const key = [...path.slice(0, -1), quarantinedName.exec(path.at(-1)!)![1]!]
    return { key, place: file, removal: `rm '${file}'` }
  })
}

export function removeQuarantined(folders: Folders, prefix: readonly string[]): void {
  for (const { place } of listQuarantined(folders, prefix)) rmSync(place, { force: true, recursive: true })
}

/** The content of a quarantined file: its value if it can be read now, or why not. A byte order mark is removed. */
export function readQuarantined(file: string): { value: unknown } | { reason: string } {
  try {
    return parseQuarantined(readFileSync(file))
  } catch (error) {
    return { reason: errorText(error) }
  }
}

export function parseQuarantined(bytes: Buffer): { value: unknown } | { reason: string } {
  if (!bytes.length) return { reason: "it is empty" }
  if (bytes.every((byte) => byte === 0)) return { reason: "it has nothing but NUL bytes" }
  try {
    return { value: JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) }
  } catch (error) {
    return { reason: errorText(error) }
  }
}

/** The beginning of a file: a truncated record still has its first fields. */
export function headOf(file: string): string {
  let fd: number | undefined
  try {
    fd = openSync(file, "r")
    const bytes = Buffer.alloc(headBytes)
    return bytes.subarray(0, readSync(fd, bytes)).toString()
  } catch {
    return ""
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}

function filesBelow(folder: string): string[] {
  return entriesIn(folder).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (quarantinedName.test(entry.name)) return [path]
    return entry.isDirectory() ? filesBelow(path) : []
  })
}

function entriesIn(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}
