// What is at a path, with links followed. For callers that do not need to know why a path cannot be read.
import { readdirSync, readFileSync, realpathSync, type Stats, statSync } from "node:fs"

/** Undefined if nothing is there, or it cannot be reached. */
export function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

/** Whether nothing is there; false if that cannot be seen. Most files that are looked for do not exist, and a start that
 * opens none does not load node:fs/promises. */
export function isAbsent(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) === undefined
  } catch {
    return false
  }
}

/** The real path; undefined if nothing is there. */
export function realOf(path: string): string | undefined {
  try {
    return realpathSync.native(path)
  } catch {
    return undefined
  }
}

/** The text of a file; undefined for anything else: reading a pipe would never end. */
export function textOf(path: string): string | undefined {
  try {
    return statOf(path)?.isFile() ? readFileSync(path, "utf8") : undefined
  } catch {
    return undefined
  }
}

/** The sorted names in a folder; empty if it cannot be read. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort()
  } catch {
    return []
  }
}
