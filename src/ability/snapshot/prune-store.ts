// Keeps the store small, in the background: it packs single objects, and removes the data of deleted and old sessions,
// and of the oldest ones if the store is too large.
import { readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { cleanFolders } from "#ability/snapshot/restore/open-folder.ts"
import { runGit } from "#ability/snapshot/store/run-git.ts"
import { namesIn, readPending } from "#ability/snapshot/store/session-log.ts"
import { inBackground, type Shadow } from "#ability/snapshot/store/shadow.ts"
import { Instance } from "#kernel/instance.ts"
import * as Log from "#kernel/process/log.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { errorText } from "#util/error.ts"
import { statOf } from "#util/file/path-info.ts"

export type Limits = {
  maxAge: number
  maxBytes: number
  looseCount: number
  looseBytes: number
  grace: number
}

const day = 86_400_000
const usual: Limits = {
  maxAge: 30 * day,
  maxBytes: 2_000_000_000,
  looseCount: 1_000,
  looseBytes: 6_000_000,
  grace: 3_600_000,
}

/** Called before every snapshot; usually there is nothing to do. A writer that is faster than the packing waits for it. */
export async function pruneStore(shadow: Shadow): Promise<void> {
  const { written } = shadow.store
  if (!shadow.isPruneChecked) {
    shadow.isPruneChecked = true
    for (const pending of readPending(shadow)) cleanFolders(shadow, pending)
    Object.assign(written, looseIn(shadow).reduce(sum, { count: 0, bytes: 0 }))
    if (isDue(shadow)) run(shadow, () => prune(shadow, usual))
  }
  if (written.count < usual.looseCount && written.bytes < usual.looseBytes) return
  await Promise.all(shadow.background)
  Object.assign(written, { count: 0, bytes: 0 })
  run(shadow, () => pack(shadow))
}

/** Moves single objects into one pack. Others may read meanwhile, because each object is always in at least one place. */
export async function pack(shadow: Shadow): Promise<void> {
  const dropPacked = () => runGit({ gitDir: shadow.store.gitDir, args: ["prune-packed", "-q"] })
  // Another process may have stored bytes again that are packed already.
  await dropPacked()
  await packThese(
    shadow,
    looseIn(shadow).map(({ hash }) => hash),
  )
  await dropPacked()
}

/** Removes objects that no session needs. Young objects stay, because a snapshot in progress may need them. */
export async function prune(shadow: Shadow, limits: Partial<Limits> = {}): Promise<void> {
  const { maxAge, maxBytes, grace } = { ...usual, ...limits }
  const sessions = await sessionsOf(shadow)
  const now = Date.now()
  for (const { file, time, isGone } of sessions)
    if (isGone || time < now - maxAge) rmSync(file, { force: true })
  removeOldIndexes(shadow, now - grace)
  const left = sessions.filter(({ file }) => statOf(file)).sort((a, b) => a.time - b.time)
  await sweep(shadow, now - grace)
  while (left.length > 1 && sizeOf(shadow) > maxBytes) {
    rmSync(left.shift()!.file, { force: true })
    await sweep(shadow, now - grace)
  }
}

async function sweep(shadow: Shadow, before: number): Promise<void> {
  const needed = neededIn(shadow)
  for (const { hash, time, file } of looseIn(shadow))
    if (!needed.has(hash) && time < before) rmSync(file, { force: true })
  const packs = namesIn(packFolder(shadow)).filter((name) => name.endsWith(".pack"))
  const old = packs.filter((name) => statSync(join(packFolder(shadow), name)).mtimeMs < before)
  if (!old.length) return
  const held = (await Promise.all(old.map((name) => hashesIn(shadow, name)))).flat()
  const kept = held.filter((hash) => needed.has(hash))
  if (kept.length === held.length && packs.length < 50) return
  const made = await packThese(shadow, kept)
  // Its objects are all old, and so is the pack: the next sweep may drop more of them.
  const time = before / 1_000 - 1
  if (made) utimesSync(join(packFolder(shadow), `pack-${made}.pack`), time, time)
  // Objects that were named meanwhile may exist nowhere else, so they stay until the next time.
  const neededNow = neededIn(shadow)
  if (held.some((hash) => neededNow.has(hash) && !needed.has(hash))) return
  for (const name of old)
    if (!made.includes(name.slice(5, -5)))
      for (const ending of [".idx", ".pack", ".rev"])
        rmSync(join(packFolder(shadow), name.replace(/\.pack$/, ending)), { force: true })
}

function neededIn({ folder }: Shadow): Set<string> {
  const sessions = join(folder, "session")
  return new Set(namesIn(sessions).flatMap((name) => linesIn(join(sessions, name))))
}

/** Returns the name of the pack. Broken or missing objects are left out. */
async function packThese({ store }: Shadow, hashes: string[]): Promise<string> {
  if (!hashes.length) return ""
  const { gitDir } = store
  const input = `${hashes.join("\n")}\n`
  const check = await runGit({ gitDir, args: ["cat-file", "--batch-check"], input })
  const good = check
    .toString()
    .split("\n")
    .flatMap((line) => (/ blob \d+$/.test(line) ? [line.split(" ", 1)[0]!] : []))
  if (!good.length) return ""
  const args = ["pack-objects", "-q", "--window=10", "--depth=50", "--threads=1"]
  const base = join("objects", "pack", "pack")
  return (await runGit({ gitDir, args: [...args, base], input: `${good.join("\n")}\n` })).toString().trim()
}

async function hashesIn({ store, ...shadow }: Shadow, name: string): Promise<string[]> {
  const index = join(packFolder({ store, ...shadow }), name.replace(/\.pack$/, ".idx"))
  const output = await runGit({ gitDir: store.gitDir, args: ["show-index"], input: readFileSync(index) })
  return output
    .toString()
    .split("\n")
    .flatMap((line) => line.split(" ")[1] ?? [])
}

async function sessionsOf({ folder }: Shadow) {
  return Promise.all(
    namesIn(join(folder, "session")).map(async (name) => {
      const file = join(folder, "session", name)
      const key = ["session", Instance.project.id, name]
      const isGone = await Storage.read(key).then(
        () => false,
        (error) => error instanceof Storage.NotFound || error instanceof Storage.InvalidKey,
      )
      return { file, time: statOf(file)?.mtimeMs ?? 0, isGone }
    }),
  )
}

function removeOldIndexes(shadow: Shadow, before: number): void {
  const used = new Set(readPending(shadow).map(({ base }) => base?.index))
  for (const name of namesIn(shadow.folder)) {
    const file = join(shadow.folder, name)
    const isOld = (statOf(file)?.ctimeMs ?? 0) < before
    if (/^(index-|sharedindex\.|tmp_)/.test(name) && isOld && !used.has(name.replace(/\.modes$/, "")))
      rmSync(file, { force: true })
  }
}

/** Once a day for a project, whichever process comes first. */
function isDue({ folder }: Shadow): boolean {
  const marker = join(folder, "pruned")
  const now = Date.now()
  const last = statOf(marker)?.mtimeMs
  if (last === undefined && !statOf(folder)) return false
  if (last !== undefined && last > now - day) return false
  writeFileSync(marker, "")
  utimesSync(marker, now / 1_000, now / 1_000)
  return true
}

function looseIn({ store }: Shadow): { hash: string; file: string; bytes: number; time: number }[] {
  const objects = join(store.gitDir, "objects")
  return namesIn(objects)
    .filter((name) => /^[0-9a-f]{2}$/.test(name))
    .flatMap((prefix) =>
      readdirSync(join(objects, prefix)).flatMap((rest) => {
        const file = join(objects, prefix, rest)
        const stat = statOf(file)
        return stat ? [{ hash: prefix + rest, file, bytes: stat.size, time: stat.mtimeMs }] : []
      }),
    )
}

function sizeOf(shadow: Shadow): number {
  const packs = namesIn(packFolder(shadow)).map((name) => statOf(join(packFolder(shadow), name))?.size ?? 0)
  return (
    packs.reduce((all, size) => all + size, 0) + looseIn(shadow).reduce(sum, { count: 0, bytes: 0 }).bytes
  )
}

function packFolder({ store }: Pick<Shadow, "store">): string {
  return join(store.gitDir, "objects", "pack")
}

function linesIn(file: string): string[] {
  try {
    return readFileSync(file, "utf8").split("\n")
  } catch {
    return []
  }
}

function sum(all: { count: number; bytes: number }, { bytes }: { bytes: number }) {
  return { count: all.count + 1, bytes: all.bytes + bytes }
}

function run(shadow: Shadow, work: () => Promise<void>): void {
  const safe = work().catch((error) =>
    Log.warn("the store of snapshots could not be pruned", { error: errorText(error) }),
  )
  inBackground(shadow, safe)
}
