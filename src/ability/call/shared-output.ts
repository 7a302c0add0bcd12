// Kept outputs of a session on several machines: a file is copied to the store that servers share when it is complete,
// and fetched when a call on another machine names it. A path of another machine means the same output here.
import { existsSync, readFileSync } from "node:fs"
import { join, relative } from "node:path"
import * as Objects from "#kernel/objects/objects.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { isInside } from "#util/file/resolve-inside.ts"
import { replaceFile } from "#util/file/write-file.ts"
import { outputFolder } from "./output-folder.ts"

/** Lets other servers read a kept file of a session. */
export async function shareOutput(sessionId: string, file: string): Promise<void> {
  const objects = await Objects.shared()
  if (objects) await objects.put(sessionId, [{ name: nameOf(sessionId, file), bytes: readFileSync(file) }])
}

/** Fetches a kept file, or all of a folder, that another server has stored. What is here is not fetched again. */
export async function fetchOutput(sessionId: string, path: string): Promise<void> {
  const objects = await Objects.shared()
  if (!objects || !isInside(outputFolder(sessionId), path)) return
  const wanted = nameOf(sessionId, path)
  for (const name of await objects.list(sessionId, wanted)) {
    const file = fileOf(sessionId, name)
    if ((name !== wanted && !isInside(wanted, name)) || !file || existsSync(file)) continue
    const bytes = await objects.get(name)
    if (bytes) await replaceFile(file, bytes)
  }
}

/** The path of a kept output on this machine, if the given one names it on another. */
export function ownOutputPath(path: string): string {
  const [, sessionId, rest = ""] = /^\/.*\/outputs\/(sess_[0-9a-z]+)(\/.*)?$/.exec(path) ?? []
  if (sessionId === undefined) return path
  const own = join(outputFolder(sessionId), rest)
  // Without a database, outputs of another machine are here if `vitamin storage copy` brought them.
  return Storage.sharedDatabase() || (existsSync(own) && !existsSync(path)) ? own : path
}

/** The name of a kept file in the store that servers share. */
export function nameOf(sessionId: string, path: string): string {
  return join("/output", sessionId, relative(outputFolder(sessionId), path))
}

/** Where the bytes under a name belong on this machine; undefined if the name is not one of the session's outputs. */
export function fileOf(sessionId: string, name: string): string | undefined {
  const folder = outputFolder(sessionId)
  const file = join(folder, relative(nameOf(sessionId, folder), name))
  return file !== folder && isInside(folder, file) ? file : undefined
}
