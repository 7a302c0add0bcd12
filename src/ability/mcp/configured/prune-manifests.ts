// Removes manifests that were not used for sixty days: clients whose keys change bring another server with every
// session. All of it can be learned again. Runs once a day, a bounded number at a time.
import { lstat, readdir, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import * as Log from "#kernel/process/log.ts"
import { errorCode, errorText } from "#util/error.ts"
import { statOf } from "#util/file/path-info.ts"

const day = 86_400_000
const maxAge = 60 * day
const maxLooked = 1_000
/** Also one that was never written to its end. */
const own = /^[0-9a-f]{40}\.json(?:\.[0-9a-f-]{36}\.tmp)?$/

/** `folder` is where the manifests are. What fails is left for another day. */
export async function pruneManifests(folder: string): Promise<void> {
  try {
    const now = Date.now()
    const stamp = join(folder, "pruned")
    if (now - (statOf(stamp)?.mtimeMs ?? 0) < day) return
    await writeFile(stamp, "", { mode: 0o600 })
    const names = (await readdir(folder)).filter((name) => own.test(name))
    for (const name of turned(names, now)) await removeOld(join(folder, name), now)
  } catch (error) {
    // Without the folder there is nothing to remove.
    if (errorCode(error) === "ENOENT") return
    Log.debug("manifests of MCP servers are not pruned", { folder, error: errorText(error) })
  }
}

/** Not every day the same ones, where there are very many. */
function turned(names: string[], now: number): string[] {
  const from = (Math.floor(now / day) * maxLooked) % Math.max(1, names.length)
  return [...names.slice(from), ...names.slice(0, from)].slice(0, maxLooked)
}

async function removeOld(path: string, now: number): Promise<void> {
  try {
    const stat = await lstat(path)
    if (stat.isFile() && now - stat.mtimeMs > maxAge) await rm(path, { force: true })
  } catch (error) {
    // Another process does the same.
    if (errorCode(error) !== "ENOENT") Log.debug("a manifest stays", { path, error: errorText(error) })
  }
}
