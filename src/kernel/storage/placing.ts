// Writes records into the tree: first to a temporary file, then by a rename, so that nobody sees half of one. Writing
// the temporary file costs most and runs while the journal is synced; only the rename waits.
import {
  close,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeSync,
} from "node:fs"
import { dirname, join } from "node:path"
import { errorCode, isMissing } from "#util/error.ts"
import { randomBytes } from "#util/id.ts"
import { type Folders, fileOf } from "./files.ts"

/** A record that is ready to be renamed (without `temporary`: to be removed), or the error of preparing it. */
type Prepared = { path: string; temporary?: string; replaced?: number; error?: unknown }

export type Placer = {
  /** Write the temporary files. Errors are reported when the records are put in place. */
  prepare(texts: Map<string, Buffer | undefined>): Prepared[]
  /** Returns the records that could not be put in place, and why. */
  put(prepared: Prepared[]): Map<string, unknown>
  /** Discard what was prepared. */
  drop(prepared: Prepared[]): void
  /** Resolves when replaced files are closed. */
  busy(): Promise<unknown> | undefined
}

/** The most replaced files that one batch keeps open. */
const mostHeld = 16
const writable = constants.O_WRONLY | constants.O_CREAT
const mine = `${process.pid}-${randomBytes(6).toString("hex")}`
let serial = 0

export function createPlacer(folders: Folders): Placer {
  const closing = new Set<Promise<void>>()

  return Object.freeze({
    prepare,
    put,
    drop,
    busy: () => (closing.size ? Promise.all(closing) : undefined),
  })

  function prepare(texts: Map<string, Buffer | undefined>): Prepared[] {
    const prepared = Array.from(texts, ([path, text]) => prepareOne(folders, path, text))
    for (const one of prepared.slice(0, mostHeld)) one.replaced = openReplaced(fileOf(folders, one.path))
    return prepared
  }

  function put(prepared: Prepared[]): Map<string, unknown> {
    const refused = new Map<string, unknown>()
    for (const one of prepared)
      try {
        putInPlace(folders, one)
      } catch (error) {
        refused.set(one.path, error)
      }
    closeReplaced(prepared)
    return refused
  }

  function drop(prepared: Prepared[]) {
    for (const { temporary } of prepared) if (temporary) rmSync(temporary, { force: true })
    closeReplaced(prepared)
  }

  /** Runs after the callers continue, so that they need not wait for it. */
  function closeReplaced(prepared: Prepared[]) {
    const held = prepared.flatMap(({ replaced }) => replaced ?? [])
    if (!held.length) return
    const done = new Promise<void>((resolve) => setImmediate(resolve))
      .then(() => Promise.all(held.map(closeLater)))
      .then(() => void closing.delete(done))
    closing.add(done)
  }
}

/** Write or remove a record in one step. */
export function placeRecord(folders: Folders, path: string, text: Buffer | undefined): void {
  putInPlace(folders, prepareOne(folders, path, text))
}

function prepareOne(folders: Folders, path: string, text: Buffer | undefined): Prepared {
  if (!text) return { path }
  const temporary = join(folders.temporary, `${mine}-${serial++}`)
  try {
    writeWhole(temporary, text)
    return { path, temporary }
  } catch (error) {
    rmSync(temporary, { force: true })
    return { path, error }
  }
}

function putInPlace(folders: Folders, { path, temporary, error }: Prepared) {
  if (error) throw error
  if (temporary) moveTo(fileOf(folders, path), temporary)
  else removeFile(fileOf(folders, path))
}

function writeWhole(file: string, bytes: Buffer) {
  const fd = openSync(file, writable, 0o600)
  try {
    for (let offset = 0; offset < bytes.length; ) offset += writeSync(fd, bytes, offset)
  } finally {
    closeSync(fd)
  }
}

/** Keeps the replaced file open, so that the rename does not free it. Freeing it later, when nobody waits, saves most
 * of the cost of a replacement. */
function openReplaced(file: string): number | undefined {
  try {
    if (process.platform === "linux" && existsSync(file))
      return openSync(file, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch {
    return undefined
  }
}

function closeLater(fd: number): Promise<void> {
  return new Promise((resolve) => close(fd, () => resolve()))
}

function moveTo(file: string, temporary: string) {
  try {
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

function removeFile(file: string) {
  try {
    unlinkSync(file)
  } catch (error) {
    if (!isMissing(error)) throw error
  }
}
