// The quarantine: files of unreadable records, below `broken` at the same paths as the records. A file leaves it when
// it is restored, or with its session.
import { closeSync, openSync, readdirSync, readFileSync, readSync, rmSync } from "node:fs"
import { join, relative, sep } from "node:path"
import { errorText } from "#util/error.ts"
import { type Folders, isMissing } from "./files.ts"

export type Quarantined = { key: string[]; file: string }

/** `name.1699999999999.json`: the record's name, and when it was quarantined. */
const form = /^(.+)\.\d+\.json$/
const headBytes = 2_000

/** The quarantined files at and below a prefix; the oldest of each record first. */
export function listQuarantined(folders: Folders, prefix: readonly string[]): Quarantined[] {
  const parent = join(folders.broken, ...prefix.slice(0, -1))
  const isOwn = (name: string) => prefix.length > 0 && form.exec(name)?.[1] === prefix.at(-1)
  const own = entriesIn(parent).filter(({ name }) => isOwn(name))
  const found = [...own.map(({ name }) => join(parent, name)), ...filesBelow(join(folders.broken, ...prefix))]
  return found.sort().map((file) => {
    const path = relative(folders.broken, file).split(sep)
    return { key: [...path.slice(0, -1), form.exec(path.at(-1)!)![1]!], file }
  })
}

export function removeQuarantined(folders: Folders, prefix: readonly string[]): void {
  for (const { file } of listQuarantined(folders, prefix)) rmSync(file, { force: true, recursive: true })
}

/** The content of a quarantined file: its value if it can be read now, or why not. A byte order mark is removed. */
export function readQuarantined(file: string): { value: unknown } | { reason: string } {
  try {
    const bytes = readFileSync(file)
    if (!bytes.length) return { reason: "it is empty" }
    if (bytes.every((byte) => byte === 0)) return { reason: "it has nothing but NUL bytes" }
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
    if (form.test(entry.name)) return [path]
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
