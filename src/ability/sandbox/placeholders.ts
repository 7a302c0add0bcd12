// Placeholders for protected paths that do not exist, until the boundary ends. A record names them while they are in
// use, so that the next start removes those of a process that was killed, and no boundary removes those of another.
import { mkdirSync, rmdir, rmSync, unlink, writeFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import * as Global from "#kernel/process/global.ts"
import { namesIn, statOf, textOf } from "#util/file/path-info.ts"
import { createId } from "#util/id.ts"
import { isRunning, ownLife, type ProcessLife } from "#util/process.ts"
import { createPlace, gitText, type Missing } from "./protected-places.ts"

export type Placeholders = {
  /** A file in one of our folders, which are hidden. */
  record: string
  remove(): Promise<void>
}
type Record = { file: string; life: ProcessLife; paths: string[] }

/** `places`: all protected paths. Those that are placeholders of another boundary are kept for this one too. */
export async function createPlaceholders(missing: Missing[], places: string[]): Promise<Placeholders> {
  const shared = new Set(readRecords().flatMap((record) => record.paths))
  const paths = [...missing.map(({ path }) => path), ...places.filter((path) => shared.has(path))]
  const file = join(folder(), createId("box"))
  mkdirSync(folder(), { recursive: true, mode: 0o700 })
  writeFileSync(file, JSON.stringify({ life: ownLife(), paths }), { mode: 0o600 })
  const remove = () => forget({ file, paths })
  const made = await Promise.allSettled(missing.map(createPlace))
  const failed = made.find((one) => one.status === "rejected")
  if (failed) {
    await remove()
    throw failed.reason
  }
  return { record: file, remove }
}

/** Removes the placeholders of processes that were killed. Must come before the protected paths are looked for. */
export async function removeLeftovers(): Promise<void> {
  for (const record of readRecords()) if (!isRunning(record.life)) await forget(record)
}

/** The record is removed first: two boundaries that end together must not both leave a placeholder to the other. */
async function forget({ file, paths }: Pick<Record, "file" | "paths">): Promise<void> {
  rmSync(file, { force: true })
  const used = new Set(readRecords().flatMap((record) => record.paths))
  await Promise.all(paths.map((path) => (used.has(path) ? undefined : removePlaceholder(path))))
}

/** Not if something was put there meanwhile. Asynchronous, because the kernel takes milliseconds to remove a folder that
 * was mounted on. */
async function removePlaceholder(path: string): Promise<void> {
  try {
    if (statOf(path)?.isDirectory()) await promisify(rmdir)(path)
    else if (["", gitText].includes(textOf(path) ?? "?")) await promisify(unlink)(path)
  } catch {
    // It is in use now.
  }
}

function readRecords(): Record[] {
  return namesIn(folder()).flatMap((name) => {
    const file = join(folder(), name)
    try {
      return [{ file, ...(JSON.parse(textOf(file) ?? "") as Omit<Record, "file">) }]
    } catch {
      // It has just been removed, or is being written.
      return []
    }
  })
}

function folder(): string {
  return join(Global.state(), "sandbox")
}
