// Beside the file of an index stands for which folder it is, and, by its age, when it was last used: its name is a sum that
// nobody can read, and SQLite leaves its own files untouched where they are only read.
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import * as Log from "#kernel/process/log.ts"
import { errorText } from "#util/error.ts"
import { statOf } from "#util/file/path-info.ts"

export const usedEnd = ".used"
/** Milliseconds. More exactly nobody needs to know. */
export const day = 86_400_000

export function noteIndexUse(path: string, folder: string): void {
  const file = path + usedEnd
  if (Date.now() - (statOf(file)?.mtimeMs ?? 0) < day) return
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    writeFileSync(file, folder, { mode: 0o600 })
  } catch (error) {
    Log.debug("the use of an index is not noted", { path, error: errorText(error) })
  }
}
