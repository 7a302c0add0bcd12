// The folders of documents of a project, and the folder of its recorded knowledge. People can read and edit both.
import { mkdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { z } from "zod"
import { Instance } from "#kernel/instance.ts"
import * as Global from "#kernel/process/global.ts"
import { refuseInGuest } from "#kernel/process/guest.ts"
import * as Log from "#kernel/process/log.ts"
import { createLock } from "#kernel/storage/lock.ts"
import { errorText, isMissing, NamedError } from "#util/error.ts"
import { replaceFile } from "#util/file/write-file.ts"

const Sources = z.array(z.string().startsWith("/"))

class BrokenList extends NamedError {
  constructor(path: string, cause: unknown) {
    const reason = cause instanceof z.ZodError ? z.prettifyError(cause) : errorText(cause)
    super(
      "Documents.BrokenList",
      `The list of document folders in ${path} cannot be read: ${reason}. It must be a JSON array of absolute paths; correct it, or delete it to start over.`,
      { path },
    )
  }
}

/** Notes that `save_knowledge` writes. */
export function knowledgeFolder(): string {
  return join(Global.data(), "knowledge", Instance.project.id)
}

/** Real paths. Read at once, because the permissions of a search depend on them. A file that cannot be read counts as
 * empty here. */
export function list(): string[] {
  try {
    return read()
  } catch (error) {
    Log.warn("no folder of documents is searched", { error: errorText(error) })
    return []
  }
}

/** Throws `Documents.BrokenList`. */
export async function add(folder: string): Promise<void> {
  await update((folders) => [...new Set([...folders, folder])].sort())
}

/** Whether it was in the list. Throws `Documents.BrokenList`. */
export async function remove(folder: string): Promise<boolean> {
  let isKnown = false
  await update((folders) => {
    isKnown = folders.includes(folder)
    return folders.filter((one) => one !== folder)
  })
  return isKnown
}

/** A lock serialises the updates of all processes, so that none is lost. */
async function update(change: (folders: string[]) => string[]): Promise<void> {
  refuseInGuest("The list of documents")
  mkdirSync(knowledgeFolder(), { recursive: true, mode: 0o700 })
  const lock = await createLock(`${file()}.lock`)
  try {
    await lock.acquire()
    try {
      await replaceFile(file(), `${JSON.stringify(change(read()), null, 2)}\n`)
    } finally {
      lock.release()
    }
  } finally {
    lock.close()
  }
}

function read(): string[] {
  try {
    return Sources.parse(JSON.parse(readFileSync(file(), "utf8")))
  } catch (error) {
    if (isMissing(error)) return []
    throw new BrokenList(file(), error)
  }
}

function file(): string {
  return join(knowledgeFolder(), "sources.json")
}
