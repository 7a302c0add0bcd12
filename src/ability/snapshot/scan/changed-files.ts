// Finds the files that a command changed, created or removed, by content and mode, and the hard links that it changed.
import { basename } from "node:path"
import { setImmediate } from "node:timers/promises"
import {
  type Change,
  type FolderChange,
  isSame,
  type LinkChange,
  type State,
  type Uncovered,
} from "#ability/snapshot/store/part.ts"
import type { FileModes, Shadow } from "#ability/snapshot/store/shadow.ts"
import { NamedError } from "#util/error.ts"
import { cleanStates } from "./clean-states.ts"
import { modeIn } from "./file-modes.ts"
import type { Folders } from "./folders.ts"
import type { Entry, Scan } from "./scan.ts"
import { stampOf, statAt, stateOf } from "./state-of.ts"

export type Stamped = { state: State; stamp?: string }
/** The state before a command. It is stored on disk until the command is over, so that a crash loses nothing. */
export type Base = {
  index?: string
  /** The version of our copy of the index, to find the table of modes for it. */
  version?: string
  /** Milliseconds since 1970. */
  started: number
  /** The files that differed from the index, or that git did not know. */
  files: Record<string, Stamped>
  /** Files whose names are not UTF-8. */
  odd: string[]
  /** Undefined if there are too many to scan. */
  folders?: Folders
}
export type Found = {
  files: Change[]
  folders: string[]
  changedFolders: FolderChange[]
  links: LinkChange[]
  uncovered: Uncovered[]
}
type Comparison = { base: Base; now: Scan; modes: FileModes | undefined; found: Found }
/** Inodes and hashes from before the command: a new path that has one of them was moved. */
type Known = { inodes: Set<number>; hashes: Set<string> }

const maxFileBytes = 10_000_000
/** The clock of a file system may lag this much behind ours, and two changes this close look like one. */
const tick = 50
/** Files between two pauses, in which this process does its other work, such as passing on the answer of a model. */
const pauseAfter = 50

/** Adds to `found` what differs from `base`. */
export async function changedFiles(shadow: Shadow, comparison: Comparison): Promise<void> {
  const { base, now, found } = comparison
  for (const [i, [path, seen]] of Object.entries(base.files).entries()) {
    if (i % pauseAfter === 0) await setImmediate()
    addKnown(shadow, { path, seen, base, found })
  }
  const clean = await addClean(shadow, comparison)
  const known = { inodes: new Set([...inodesIn(base), ...clean]), hashes: hashesIn(found) }
  const rulesChanged = found.files.some(({ path }) => basename(path) === ".gitignore")
  for (const path of now.untracked)
    if (!Object.hasOwn(base.files, path)) addNew(shadow, { path, base, found, known, rulesChanged })
}

export function isSince(time: bigint, { started }: Pick<Base, "started">): boolean {
  return Number(time / 1_000_000n) >= started - tick
}

/** Adds to `found` names that were one file (hard links) before the command and are not after it, and names that became
 * one file. */
export async function changedLinks(
  shadow: Shadow,
  { base, now: { touched }, modes, found }: Comparison,
): Promise<void> {
  const before = inodesBefore(base, modes)
  for (const [inode, paths] of groupsOf(before))
    if (paths.some((path) => inodeAt(shadow, path) !== inode))
      found.links.push({ paths, before: "linked", inode })
  const now = new Map<string, string>()
  const made = found.files.flatMap(({ path, after }) => (after?.inode ? [path] : []))
  const paths = new Set([...Object.keys(base.files), ...touched.keys(), ...(modes?.young ?? []), ...made])
  for (const [i, path] of [...paths].entries()) {
    if (i % pauseAfter === 0) await setImmediate()
    const stat = statAt(shadow.root, path)
    if (stat?.isFile() && stat.nlink > 1n) now.set(path, String(stat.ino))
  }
  for (const [inode, paths] of groupsOf(now))
    if (!paths.every((path) => before.get(path) === inode))
      found.links.push({ paths, before: "apart", inode })
}

function addKnown(shadow: Shadow, options: { path: string; seen: Stamped; base: Base; found: Found }): void {
  const { path, seen, base, found } = options
  const stat = statAt(shadow.root, path)
  const isYoung = stat !== undefined && isSince(stat.ctimeNs, base)
  if (!stat && !seen.state) return
  if (stat && stampOf(stat) === seen.stamp && !(isYoung && seen.state?.hash)) return
  const state = stateOf(shadow, path)
  if (isSame(seen.state, state)) return
  if (seen.state?.kind === "file" && !seen.state.hash)
    found.uncovered.push({ path, reason: "it was too large to keep, or could not be read" })
  else found.files.push({ path, before: seen.state, after: state })
}

/** Files that were clean in git. Returns their inodes. */
async function addClean(shadow: Shadow, { base, now, modes, found }: Comparison): Promise<Set<number>> {
  const inodes = new Set<number>()
  const entries = new Map<string, Entry>()
  for (const [path, entry] of now.touched) {
    if (Object.hasOwn(base.files, path)) continue
    const stat = statAt(shadow.root, path)
    if (stat) inodes.add(shortInode(stat.ino))
    const isModified = now.modified.has(path)
    if (!isModified && (!modes || !stat || Number(stat.mode & 0o7777n) === modeOf(modes, path, entry)))
      continue
    const after = stateOf(shadow, path)
    if (!isEntry(after, entry)) entries.set(path, entry)
    else addIfChanged(found, { path, before: exactly({ ...after!, ...gitMode(entry) }, path, modes), after })
  }
  for (const path of modes?.young ?? [])
    if (!now.touched.has(path) && !Object.hasOwn(base.files, path))
      addYoung(shadow, { path, modes: modes!, found, inodes })
  if (!entries.size || !base.index) return inodes
  const clean = await cleanStates({ shadow, index: base.index, entries, maxBytes: maxFileBytes })
  for (const [path, state] of clean.states) {
    if (!(state instanceof NamedError))
      addIfChanged(found, { path, before: exactly(state, path, modes), after: stateOf(shadow, path) })
    else if (wasTouched(shadow, path, base)) found.uncovered.push({ path, reason: state.message })
  }
  return inodes.union(clean.inodes)
}

/** Git sees no change, so its bytes are the same; only its mode may have changed. */
function addYoung(
  shadow: Shadow,
  options: { path: string; modes: FileModes; found: Found; inodes: Set<number> },
): void {
  const { path, modes, found, inodes } = options
  const stat = statAt(shadow.root, path)
  if (!stat?.isFile()) return
  inodes.add(shortInode(stat.ino))
  const mode = Number(stat.mode & 0o7777n)
  if (mode === modeIn(modes, path, (mode & 0o100) !== 0)) return
  const after = stateOf(shadow, path)
  if (after?.kind === "file") addIfChanged(found, { path, before: exactly(after, path, modes), after })
}

function addIfChanged({ files }: Found, change: Change): void {
  if (!isSame(change.before, change.after)) files.push(change)
}

/** Whether the file has the bytes of the index, so that only its mode can have changed. */
function isEntry(state: State, { hash, mode }: Entry): boolean {
  return state?.hash === hash && state.kind === (mode === "120000" ? "link" : "file")
}

function gitMode({ mode }: Entry): { mode: number; exact?: false } {
  if (mode === "120000") return { mode: 0o777 }
  return { mode: isProgram({ mode }) ? 0o755 : 0o644, exact: false }
}

/** Adds all bits of the mode, and the inode of a file with several names, if they were read before the command. */
function exactly(state: State, path: string, modes: FileModes | undefined): State {
  if (state?.kind !== "file" || !modes) return state
  const { exact: _, inode: __, ...rest } = state
  const inode = modes.links[path]
  return { ...rest, mode: modeIn(modes, path, (state.mode & 0o100) !== 0), ...(inode ? { inode } : {}) }
}

function modeOf(modes: FileModes, path: string, entry: Entry): number {
  return modeIn(modes, path, isProgram(entry))
}

function isProgram({ mode }: Pick<Entry, "mode">): boolean {
  return mode === "100755"
}

/** An undo does not remove a file that is older than the call, unless the file was moved here from a covered place. Any
 * other old file was ignored until the rules changed, or came from a place that is not covered. */
function addNew(
  shadow: Shadow,
  options: { path: string; base: Base; found: Found; known: Known; rulesChanged: boolean },
): void {
  const { path, base, found, known, rulesChanged } = options
  const stat = statAt(shadow.root, path)
  if (!stat) return
  const after = stateOf(shadow, path)
  const isMoved = known.inodes.has(shortInode(stat.ino)) || (after?.hash && known.hashes.has(after.hash))
  // A file system that does not store the creation time reports 0.
  const isNew = isSince(stat.birthtimeNs || stat.ctimeNs, base)
  if (isMoved || isNew) found.files.push({ path, before: null, after })
  else if (wasTouched(shadow, path, base)) {
    const reason = rulesChanged
      ? "it was ignored by git before"
      : "it was moved here from a place that is not covered"
    found.uncovered.push({ path, reason })
  }
}

function inodesIn({ files }: Base): number[] {
  return Object.values(files).flatMap(({ stamp }) =>
    stamp ? shortInode(BigInt(stamp.split(":", 1)[0]!)) : [],
  )
}

function hashesIn({ files }: Found): Set<string> {
  return new Set(files.flatMap(({ before }) => before?.hash ?? []))
}

/** An inode in the short form of git's index. */
function shortInode(inode: bigint): number {
  return Number(inode & 0xffffffffn)
}

function wasTouched(shadow: Shadow, path: string, base: Base): boolean {
  const stat = statAt(shadow.root, path)
  return !stat || isSince(stat.ctimeNs, base)
}

function inodesBefore({ files }: Base, modes: FileModes | undefined): Map<string, string> {
  const found = new Map(Object.entries(modes?.links ?? {}).filter(([path]) => !Object.hasOwn(files, path)))
  for (const [path, { state }] of Object.entries(files)) if (state?.inode) found.set(path, state.inode)
  return found
}

/** Names of the same inode, where there are at least two. */
function groupsOf(inodes: ReadonlyMap<string, string>): [inode: string, paths: string[]][] {
  const groups = new Map<string, string[]>()
  for (const [path, inode] of inodes) {
    const paths = groups.get(inode)
    if (paths) paths.push(path)
    else groups.set(inode, [path])
  }
  return [...groups].filter(([, paths]) => paths.length > 1)
}

function inodeAt({ root }: Shadow, path: string): string | undefined {
  const stat = statAt(root, path)
  return stat?.isFile() ? String(stat.ino) : undefined
}
