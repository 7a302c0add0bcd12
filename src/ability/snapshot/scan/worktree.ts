// Finds what a command changed in the work tree, by a scan before and after. The scan before reads only what git does
// not have; content that git has is read from its objects afterwards, for the few changed files.
import { dirname } from "node:path"
import type { FileModes, Shadow } from "#ability/snapshot/store/shadow.ts"
import { NamedError } from "#util/error.ts"
import { type Base, changedFiles, changedLinks, type Found, type Stamped } from "./changed-files.ts"
import { fileModes, loadModes, versionOf } from "./file-modes.ts"
import { changedFolders, walkFolders } from "./folders.ts"
import { copyIndex, scan, trackedIn } from "./scan.ts"
import { stampOf, statAt, stateOf } from "./state-of.ts"

const maxFiles = 20_000
const maxFileBytes = 10_000_000
const maxBytes = 100_000_000
/** The clock of a file system may lag this much behind ours, and two changes this close look like one. */
const tick = 50

const tooMany = new NamedError(
  "Snapshot.TooMany",
  `more than ${maxFiles} files here are not tracked by git, so the changes of commands are not covered; a .gitignore helps`,
)

export async function before(shadow: Shadow): Promise<Base> {
  const index = copyIndex(shadow)
  const [{ modified, untracked, uncovered }] = await Promise.all([
    scan(shadow, index),
    // Read while git works. If git rewrites the index meanwhile, the modes are read again below.
    index && modesOf(shadow, index),
  ])
  if (modified.size + untracked.length > maxFiles) throw tooMany
  const modes = index ? await modesOf(shadow, index) : undefined
  const files: Record<string, Stamped> = Object.create(null)
  let budget = maxBytes
  for (const path of [...modified.keys(), ...untracked]) {
    const seen = scanFile(shadow, path, Math.min(budget, maxFileBytes))
    if (seen.state?.hash) budget -= seen.state.size
    files[path] = seen
  }
  const folders = walkFolders(shadow, await foldersOf(shadow, index, untracked))
  return {
    ...(index ? { index } : {}),
    ...(modes ? { version: modes.version } : {}),
    started: Date.now(),
    files,
    odd: uncovered.map(({ path }) => path),
    ...(folders ? { folders } : {}),
  }
}

export async function after(shadow: Shadow, base: Base): Promise<Found> {
  const now = await scan(shadow, base.index)
  const modes = loadModes(shadow, base.index, base.version)
  const found: Found = { files: [], folders: [], changedFolders: [], links: [], uncovered: [] }
  found.uncovered.push(...now.uncovered.filter(({ path }) => !base.odd.includes(path)))
  await changedFiles(shadow, { base, now, modes, found })
  const known = await foldersOf(shadow, base.index, now.untracked)
  changedFolders(shadow, { base, known, found })
  await changedLinks(shadow, { base, now, modes, found })
  return found
}

async function modesOf(shadow: Shadow, index: string): Promise<FileModes> {
  return fileModes(shadow, index, async () => (await trackedIn(shadow, index)).names)
}

/** All folders above files that git knows or would add. */
async function foldersOf(
  shadow: Shadow,
  index: string | undefined,
  untracked: readonly string[],
): Promise<Set<string>> {
  const found = new Set(index ? await trackedFolders(shadow, index) : [])
  for (const path of untracked) addParents(found, path)
  return found
}

async function trackedFolders(shadow: Shadow, index: string): Promise<Set<string>> {
  const version = versionOf(shadow, index)
  if (shadow.folders?.version === version) return shadow.folders.names
  const names = new Set<string>()
  for (const path of (await trackedIn(shadow, index)).names) addParents(names, path)
  shadow.folders = { version, names }
  return names
}

function addParents(found: Set<string>, path: string): void {
  for (let folder = dirname(path); folder !== "." && !found.has(folder); folder = dirname(folder))
    found.add(folder)
}

/** The state of a file; one whose stamp is unchanged is not read again. */
function scanFile(shadow: Shadow, path: string, budget: number): Stamped {
  const stat = statAt(shadow.root, path)
  if (!stat) return { state: null }
  const stamp = stampOf(stat)
  const known = shadow.seen.get(path)
  if (known?.stamp === stamp) return known
  const state = stateOf(shadow, path, { keep: true, maxBytes: budget })
  const seen = { state, stamp }
  const isSettled = Number(stat.ctimeNs / 1_000_000n) < Date.now() - tick
  if (state?.hash && isSettled) shadow.seen.set(path, seen)
  return seen
}
