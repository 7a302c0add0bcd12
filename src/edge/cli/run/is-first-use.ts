// Whether a model that nobody chose is used for the first time on this machine: only then the long note about it is
// printed. The used models are kept in a cache file that can be deleted at any time.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import * as Global from "#kernel/process/global.ts"

const maxModels = 50

/** Also records the model as used. */
export function isFirstUse(model: string): boolean {
  try {
    const file = join(Global.cache(), "fallback-models.json")
    const used = readUsed(file)
    if (used.includes(model)) return false
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    writeFileSync(file, `${JSON.stringify([...used, model].slice(-maxModels))}\n`)
  } catch {
    // If the cache cannot be written, the note is printed in every run.
  }
  return true
}

function readUsed(file: string): unknown[] {
  try {
    const used: unknown = JSON.parse(readFileSync(file, "utf8"))
    return Array.isArray(used) ? used : []
  } catch {
    return []
  }
}
