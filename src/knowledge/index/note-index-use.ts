// Notes the use of an index in a small file beside it: its content is the folder that the index is for, its age the time
// of the last use. The name of an index is a hash, and SQLite does not touch a file that is only read.
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import * as Log from "#kernel/process/log.ts"
import { errorText } from "#util/error.ts"
import { statOf } from "#util/file/path-info.ts"

export const usedEnd = ".used"
/** Milliseconds. A use is noted once a day. */
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
