// Records as plain JSON files. A file is written beside the tree and renamed into it, so that nobody ever sees half
// of one.
import { isUtf8 } from "node:buffer"
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeSync,
} from "node:fs"
import { open } from "node:fs/promises"
import { dirname, join } from "node:path"
import { errorCode, errorText } from "#util/error.ts"
import type { Entry } from "./journal.ts"

export type Found = { text: string } | { reason: string } | undefined
export type Folders = { records: string; temporary: string; broken: string; journal: string }

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

/** The text of a record, or why it cannot be one; undefined where there is none. */
export function readRecord(folders: Folders, path: string): Found {
  try {
    const bytes = readFileSync(fileOf(folders, path))
    if (bytes.length === 0) return { reason: "it is empty" }
    return isUtf8(bytes) ? { text: bytes.toString() } : { reason: "it is not UTF-8" }
  } catch (error) {
    if (isMissing(error)) return undefined
    if (unreadable.has(errorCode(error) ?? "")) return { reason: errorText(error) }
    throw error
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

const unreadable = new Set(["EACCES", "EPERM", "EISDIR"])
let serial = 0

/** Put a record in place, or take it away. Readers see the old one or the new one. */
export function placeRecord(folders: Folders, path: string, text: Buffer | undefined): void {
  const file = fileOf(folders, path)
  if (text) replaceFile(file, text, join(folders.temporary, `${process.pid}-${serial++}`))
  else removeFile(file)
}

/** Make the present content of these records survive a power cut, their folders included. */
export async function syncRecords(folders: Folders, entries: Iterable<Entry>): Promise<void> {
  const files: string[] = []
  const directories = new Set<string>()
  for (const { path } of entries) {
    files.push(fileOf(folders, path))
    for (let folder = dirname(path); ; folder = dirname(folder)) {
      directories.add(join(folders.records, folder))
      if (folder === ".") break
    }
  }
  for (let i = 0; i < files.length; i += 16) await Promise.all(files.slice(i, i + 16).map(syncPath))
  await Promise.all([...directories].map(syncPath))
}

/** Keep a broken record out of the way, in the same place of another tree. Gives its new place. */
export function setAside(folders: Folders, path: string): string {
  const target = join(folders.broken, `${path}.${Date.now()}.json`)
  mkdirSync(dirname(target), { recursive: true, mode: 0o700 })
  renameSync(fileOf(folders, path), target)
  return target
}

/** What a crash left behind. Only to be called under the lock, when nobody else is writing. */
export function removeLeftovers(folders: Folders): void {
  for (const name of readdirSync(folders.temporary))
    rmSync(join(folders.temporary, name), { force: true, recursive: true })
}

/** Names of the direct children, records and folders, sorted. */
export function listRecords(folders: Folders, path: string): string[] {
  try {
    const entries = readdirSync(join(folders.records, path), { withFileTypes: true })
    const names = entries.flatMap((entry) => {
      if (entry.name.startsWith(".")) return []
      if (entry.name.endsWith(".json")) return [entry.name.slice(0, -5)]
      return entry.isDirectory() ? [entry.name] : []
    })
    return [...new Set(names)].sort()
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

function replaceFile(file: string, text: Buffer, temporary: string) {
  try {
    writeWhole(temporary, text)
    try {
      renameSync(temporary, file)
    } catch (error) {
      if (errorCode(error) !== "ENOENT") throw error
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
      renameSync(temporary, file)
    }
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}

function writeWhole(file: string, bytes: Buffer) {
  const fd = openSync(file, "w", 0o600)
  try {
    for (let offset = 0; offset < bytes.length; ) offset += writeSync(fd, bytes, offset)
  } finally {
    closeSync(fd)
  }
}

function removeFile(file: string) {
  try {
    unlinkSync(file)
  } catch (error) {
    if (!isMissing(error)) throw error
  }
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

function isMissing(error: unknown): boolean {
  const code = errorCode(error)
  return code === "ENOENT" || code === "ENOTDIR"
}
