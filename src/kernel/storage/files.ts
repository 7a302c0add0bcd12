// Records as plain JSON files: where they are, what they say, and what is done with broken ones.
import { isUtf8 } from "node:buffer"
import { mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, rmSync } from "node:fs"
import { open } from "node:fs/promises"
import { dirname, join } from "node:path"
import { errorCode, errorText } from "#util/error.ts"

export type Found = { text: string } | { reason: string } | undefined
type FoundBytes = { bytes: Buffer } | { reason: string } | undefined
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

export function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const unreadable = new Set(["EACCES", "EPERM", "EISDIR"])

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

/** Keep a broken record out of the way, in the same place of another tree. Gives its new place. */
export function quarantineFile(folders: Folders, path: string): string {
  const target = join(folders.broken, `${path}.${Date.now()}.json`)
  mkdirSync(dirname(target), { recursive: true, mode: 0o700 })
  renameSync(fileOf(folders, path), target)
  return target
}

/** Remove the folder of the records below a key. One that has records stays. Only to be called under the lock. */
export function removeEmptyFolder(folders: Folders, path: string): void {
  try {
    rmdirSync(join(folders.records, path))
  } catch (error) {
    if (!isMissing(error) && errorCode(error) !== "ENOTEMPTY") throw error
  }
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

export function isMissing(error: unknown): boolean {
  const code = errorCode(error)
  return code === "ENOENT" || code === "ENOTDIR"
}
