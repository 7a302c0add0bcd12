// Whether a model that nobody named is used for the first time on this machine: the note about it is long, and nobody
// would read it in every run. The record can be deleted at any time.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import * as Global from "#kernel/process/global.ts"

const maxModels = 50

/** Afterwards it counts as used. */
export function isFirstUse(model: string): boolean {
  try {
    const file = join(Global.cache(), "fallback-models.json")
    const used = readUsed(file)
    if (used.includes(model)) return false
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    writeFileSync(file, `${JSON.stringify([...used, model].slice(-maxModels))}\n`)
  } catch {
    // Without a cache, the note is said in every run.
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
