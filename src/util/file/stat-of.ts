// What is at a path, links followed, where the reason why nothing can be seen there does not matter.
import { type Stats, statSync } from "node:fs"

export function statOf(path: string): Stats | undefined {
  try {
    return statSync(path)
  } catch {
    return undefined
  }
}
