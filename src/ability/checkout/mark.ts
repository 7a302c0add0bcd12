// A file that says which kept state a checkout on this machine has. It is missing until the checkout is complete.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { ownFolder } from "./mirror.ts"

export function read(checkout: string): string | undefined {
  try {
    return readFileSync(fileOf(checkout), "utf8")
  } catch {
    return undefined
  }
}

export function write(checkout: string, state: string): void {
  mkdirSync(dirname(fileOf(checkout)), { recursive: true, mode: 0o700 })
  writeFileSync(fileOf(checkout), state, { mode: 0o600 })
}

export function remove(checkout: string): void {
  rmSync(fileOf(checkout), { force: true })
}

/** A checkout is at PROJECT/SESSION/NAME. */
function fileOf(checkout: string): string {
  const session = dirname(checkout)
  return join(ownFolder(basename(dirname(session))), `${basename(session)}.mark`)
}
