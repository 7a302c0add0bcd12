// Where a path really leads; undefined where nothing is there, or not any more.
import { realpathSync } from "node:fs"

export function realOf(path: string): string | undefined {
  try {
    return realpathSync.native(path)
  } catch {
    return undefined
  }
}
