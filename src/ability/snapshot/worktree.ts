// What a command changed in the work tree, found by looking before and after. Before it, only what git does not keep is
// read; what git has comes out of its objects afterwards, for the few files that turn out to be changed.
import type { BigIntStats } from "node:fs"
import { basename, dirname } from "node:path"
import { NamedError } from "#util/error.ts"
import { cleanStates } from "./clean-states.ts"
import { type Change, isSame, type State, type Uncovered } from "./part.ts"
import { copyIndex, type Entry, scan } from "./scan.ts"
import type { Shadow } from "./shadow.ts"
import { stampOf, statAt, stateOf } from "./state-of.ts"

/** How things stood before a command. It is kept on disk until the command is over, so that a crash loses nothing. */
export type Base = {
  index?: string
  /** Milliseconds since 1970. */
  started: number
  /** All that git did not have as it was. */
  files: Record<string, Seen>
  /** Files whose names we cannot write. */
  odd: string[]
}
type Seen = { state: State; stamp?: string }
/** What was there before by the look of it, wherever it is now. */
type Known = { inodes: Set<number>; hashes: Set<string> }
export type Found = { files: Change[]; folders: string[]; uncovered: Uncovered[] }

const maxFiles = 20_000
const maxFileBytes = 10_000_000
const maxBytes = 100_000_000
/** The clock of a file system may be this much behind ours, and two changes this near look like one. */
const tick = 50

const tooMany = new NamedError(
  "Snapshot.TooMany",
  `more than ${maxFiles} files here are not kept by git, so what a command changes is not covered; a .gitignore helps`,
)

export async function before(shadow: Shadow): Promise<Base> {
  const index = copyIndex(shadow)
  const { modified, untracked, uncovered } = await scan(shadow, index)
  if (modified.size + untracked.length > maxFiles) throw tooMany
  const files: Record<string, Seen> = Object.create(null)
  let room = maxBytes
  for (const path of [...modified.keys(), ...untracked]) {
    const seen = look(shadow, path, Math.min(room, maxFileBytes))
    if (seen.state?.hash) room -= seen.state.size
    files[path] = seen
  }
  return { ...(index ? { index } : {}), started: Date.now(), files, odd: uncovered.map(({ path }) => path) }
}

export async function after(shadow: Shadow, base: Base): Promise<Found> {
  const now = await scan(shadow, base.index)
  const uncovered = now.uncovered.filter(({ path }) => !base.odd.includes(path))
  const found: Found = { files: [], folders: [], uncovered }
  for (const [path, seen] of Object.entries(base.files)) addKnown(shadow, { path, seen, base, found })
  const clean = await addClean(shadow, { base, entries: newlyModified(now.modified, base), found })
  const known = { inodes: new Set([...inodesIn(base), ...clean]), hashes: hashesIn(found) }
  const rulesChanged = found.files.some(({ path }) => basename(path) === ".gitignore")
  for (const path of now.untracked)
    if (!Object.hasOwn(base.files, path)) addNew(shadow, { path, base, found, known, rulesChanged })
  found.folders = madeFolders(shadow, base, found.files)
  return found
}

/** The hash of a file that nobody touched since is known. */
function look(shadow: Shadow, path: string, room: number): Seen {
  const stat = statAt(shadow.root, path)
  if (!stat) return { state: null }
  const stamp = stampOf(stat)
  const known = shadow.seen.get(path)
  if (known?.stamp === stamp) return known
  const state = stateOf(shadow.root, path, { store: shadow.store, keep: true, maxBytes: room })
  const seen = { state, stamp }
  const isSettled = Number(stat.ctimeNs / 1_000_000n) < Date.now() - tick
  if (state?.hash && isSettled) shadow.seen.set(path, seen)
  return seen
}

function stateNow(shadow: Shadow, path: string): State {
  return stateOf(shadow.root, path, { store: shadow.store, keep: false, maxBytes })
}

function addKnown(shadow: Shadow, options: { path: string; seen: Seen; base: Base; found: Found }): void {
  const { path, seen, base, found } = options
  const stat = statAt(shadow.root, path)
  const isYoung = stat !== undefined && isSince(stat.ctimeNs, base)
  if (!stat && !seen.state) return
  if (stat && stampOf(stat) === seen.stamp && !(isYoung && seen.state?.hash)) return
  const state = stateNow(shadow, path)
  if (isSame(seen.state, state)) return
  if (seen.state?.kind === "file" && !seen.state.hash)
    found.uncovered.push({ path, reason: "it was too large to keep, or could not be read" })
  else found.files.push({ path, before: seen.state, after: state })
}

function newlyModified(modified: Map<string, Entry>, base: Base): Map<string, Entry> {
  return new Map([...modified].filter(([path]) => !Object.hasOwn(base.files, path)))
}

async function addClean(
  shadow: Shadow,
  options: { base: Base; entries: Map<string, Entry>; found: Found },
): Promise<Set<number>> {
  const { base, entries, found } = options
  if (!entries.size || !base.index) return new Set()
  const { states, inodes } = await cleanStates({ shadow, index: base.index, entries, maxBytes: maxFileBytes })
  for (const [path, state] of states) {
    if (state instanceof NamedError) {
      if (wasTouched(shadow, path, base)) found.uncovered.push({ path, reason: state.message })
      continue
    }
    const after = stateNow(shadow, path)
    if (!isSame(state, after)) found.files.push({ path, before: state, after })
  }
  return inodes
}

/** A file that is older than the call is nobody's to remove, unless it is one that is put back where it was: it was
 * ignored until the rules changed, or came from where nothing is kept. */
function addNew(
  shadow: Shadow,
  options: { path: string; base: Base; found: Found; known: Known; rulesChanged: boolean },
): void {
  const { path, base, found, known, rulesChanged } = options
  const stat = statAt(shadow.root, path)
  if (!stat) return
  const after = stateNow(shadow, path)
  const isMoved = known.inodes.has(shortInode(stat.ino)) || (after?.hash && known.hashes.has(after.hash))
  // A file system that does not know when a file was made says 0.
  const isNew = isSince(stat.birthtimeNs || stat.ctimeNs, base)
  if (isMoved || isNew) found.files.push({ path, before: null, after })
  else if (wasTouched(shadow, path, base)) {
    const reason = rulesChanged
      ? "it was ignored by git before"
      : "it was moved here from where nothing is kept"
    found.uncovered.push({ path, reason })
  }
}

function isSince(time: bigint, { started }: Base): boolean {
  return Number(time / 1_000_000n) >= started - tick
}

function inodesIn({ files }: Base): number[] {
  return Object.values(files).flatMap(({ stamp }) =>
    stamp ? shortInode(BigInt(stamp.split(":", 1)[0]!)) : [],
  )
}

function hashesIn({ files }: Found): Set<string> {
  return new Set(files.flatMap(({ before }) => before?.hash ?? []))
}

/** As git has it in its index. */
function shortInode(inode: bigint): number {
  return Number(inode & 0xffffffffn)
}

function wasTouched(shadow: Shadow, path: string, base: Base): boolean {
  const stat = statAt(shadow.root, path)
  return !stat || isSince(stat.ctimeNs, base)
}

/** Folders of new files that are themselves new, or were moved here. */
function madeFolders({ root }: Shadow, base: Base, files: Change[]): string[] {
  const made = new Map<string, boolean>([[".", false]])
  const isMade = (folder: string): boolean => {
    const known = made.get(folder)
    if (known !== undefined) return known
    const above = dirname(folder)
    const isNew = isMade(above) || isMadeOrMoved(statAt(root, folder), statAt(root, above), base)
    made.set(folder, isNew)
    return isNew
  }
  for (const { path, before } of files) if (!before) isMade(dirname(path))
  return [...made].flatMap(([folder, isNew]) => (isNew ? [folder] : []))
}

/** A move changes a folder, but not what is in it, and the folder above. */
function isMadeOrMoved(stat: BigIntStats | undefined, above: BigIntStats | undefined, base: Base): boolean {
  if (!stat?.isDirectory() || !above) return false
  if (isSince(stat.birthtimeNs, base)) return true
  return isSince(stat.ctimeNs, base) && !isSince(stat.mtimeNs, base) && isSince(above.mtimeNs, base)
}
