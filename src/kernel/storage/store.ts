// The records under one root: reads go straight to their files, changes go through the writer.
import { existsSync } from "node:fs"
import * as Log from "#kernel/process/log.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { errorText } from "#util/error.ts"
import { Corrupt, InvalidData, type Key, NotFound } from "./errors.ts"
import { fileOf, foldersOf, isJson, quarantineFile, readRecord } from "./files.ts"
import { type Change, createWriter } from "./writer.ts"

export type Store = ReturnType<typeof createStore>

// Opening the store compares the records of two segments with their files: a few milliseconds for a few hundred.
const segment = { segmentBytes: 1 << 20, segmentRecords: 400 }

export function createStore(root: string) {
  const folders = foldersOf(root)
  const writer = createWriter(folders, segment)
  /** Changes that are on their way to the disk, by path. */
  const changing = new Map<string, Promise<void>>()
  let ready: Promise<void> | undefined
  let isUpToDate = false

  return Object.freeze({
    folders,
    changing,
    submit,
    upToDate,
    readNow,
    isKnownMissing,
    exclusive: writer.exclusive,
    close: writer.close,
  })

  function submit(change: Change): Promise<void> {
    const done = writer.submit(change)
    const settled = done
      .catch(() => {})
      .then(() => void (changing.get(change.path) === settled && changing.delete(change.path)))
    changing.set(change.path, settled)
    return done
  }

  /** Waits until the files have the pending changes of this process and the newer values of the journal. */
  async function upToDate(path: string) {
    await changing.get(path)
    ready ??= openIfThere().catch(cannotOpen)
    await ready
  }

  async function openIfThere() {
    if (existsSync(folders.journal)) await writer.open()
    isUpToDate = true
  }

  function cannotOpen(error: unknown) {
    Log.warn("the journal could not be opened; records are read as they are", { error: errorText(error) })
  }

  /** Whether there is certainly no record: neither a file, nor a change, nor a journal that may have it. */
  function isKnownMissing(path: string): boolean {
    if (existsSync(fileOf(folders, path)) || changing.has(path)) return false
    return isUpToDate || !existsSync(folders.journal)
  }

  async function readNow(key: Key, path: string): Promise<unknown> {
    const found = readRecord(folders, path)
    if (!found) throw new NotFound(key)
    try {
      return parse(key, found)
    } catch (error) {
      return await repair(key, path, error as Corrupt)
    }
  }

  /** Repair a broken record from the journal, or quarantine and report it. Another process may have been faster. */
  async function repair(key: Key, path: string, broken: Corrupt): Promise<unknown> {
    let mended: string | undefined
    const apply: Change["apply"] = (current) => {
      const found = current()
      if (!found) throw new NotFound(key)
      if ("text" in found && isJson(found.text)) mended = found.text
      else mended = mend(key, path, broken)
      return mended
    }
    await submit({ path, apply }).catch((error) => {
      if (error instanceof NotFound || error instanceof Corrupt) throw error
      Log.warn(broken.message)
      throw broken
    })
    return JSON.parse(mended!)
  }

  function mend(key: Key, path: string, broken: Corrupt): string {
    const movedTo = quarantineFile(folders, path)
    const kept = writer.lastJournaled(path)?.bytes?.toString()
    const error = new Corrupt(key, broken.reason, movedTo)
    Log.warn(kept === undefined ? error.message : `${error.message} and mended from the journal`)
    if (kept === undefined) throw error
    return kept
  }
}

export function parse(key: Key, found: { text: string } | { reason: string }): unknown {
  if ("reason" in found) throw new Corrupt(key, found.reason, undefined)
  try {
    return JSON.parse(found.text)
  } catch (error) {
    throw new Corrupt(key, errorText(error), undefined)
  }
}

export function serialize(key: Key, data: unknown): string {
  try {
    const text = JSON.stringify(data)
    if (text !== undefined) return Secret.redactJson(text)
  } catch (error) {
    throw new InvalidData(key, errorText(error))
  }
  throw new InvalidData(key, `${typeof data} is not JSON`)
}
