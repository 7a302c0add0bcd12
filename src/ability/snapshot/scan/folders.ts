// The folders of the work tree with their modes, the empty ones included, and the named pipes, sockets and devices in
// them: what git does not tell. A folder is read again only when its times say that its entries may have changed.
import { type BigIntStats, type Dirent, lstatSync, readdirSync } from "node:fs"
import { dirname, join } from "node:path"
import type { Listing, Shadow } from "#ability/snapshot/store/shadow.ts"
import { type Base, type Found, isSince } from "./changed-files.ts"
import { specialKind, statAt, stateOf } from "./state-of.ts"

export type Folders = {
  /** The mode of each folder that is covered. */
  modes: Record<string, number>
  /** What is neither a file, a link nor a folder, by its kind. */
  special: Record<string, string>
  /** Folders with files that git ignores or leaves to another repository; nothing below them is covered. */
  closed: string[]
}

const maxFolders = 20_000
/** Two changes this near may leave the same time on a folder. */
const tick = 50

type Walk = { shadow: Shadow; known: ReadonlySet<string>; found: Folders; count: number }
type Seen = Listing & { mode: number }

/** `known` are the folders that hold files which git knows or would add. Undefined if there are too many. */
export function walkFolders(shadow: Shadow, known: ReadonlySet<string>): Folders | undefined {
  const found: Folders = { modes: Object.create(null), special: Object.create(null), closed: [] }
  const walk = { shadow, known, found, count: 0 }
  return add(walk, "", listingOf(walk, "")) ? found : undefined
}

/** Adds to `found` the folders that a command made, removed or gave another mode, and the named pipes, sockets and devices
 * that it made or removed. */
export function changedFolders(
  shadow: Shadow,
  options: { base: Base; known: ReadonlySet<string>; found: Found },
): void {
  const { base, known, found } = options
  const old = base.folders
  const now = old && walkFolders(shadow, new Set([...known, ...Object.keys(old.modes)]))
  if (!old || !now) {
    found.uncovered.push({ path: "(folders)", reason: "there are too many to scan" })
    return
  }
  for (const [path, before] of Object.entries(old.modes)) {
    const after = now.modes[path] ?? modeAt(shadow, path)
    if (after !== before) found.changedFolders.push({ path, before, after })
  }
  const closed = new Set(old.closed)
  found.folders = Object.keys(now.modes).filter((path) => !(path in old.modes) && !isBelow(closed, path))
  addSpecial(shadow, { base, old, now, closed, found })
}

/** The mode of the folder at a path; null if there is none. */
export function modeAt({ root }: Shadow, path: string): number | null {
  const stat = statAt(root, path)
  return stat?.isDirectory() ? Number(stat.mode & 0o7777n) : null
}

function add(walk: Walk, folder: string, listing: Seen | undefined): boolean {
  const { known, found } = walk
  if (!listing) return true
  if (++walk.count > maxFolders) return false
  if (folder) found.modes[folder] = listing.mode
  for (const [name, kind] of listing.special) found.special[pathOf(folder, name)] = kind
  for (const name of listing.folders) {
    const path = pathOf(folder, name)
    const inside = listingOf(walk, path)
    const isCovered = known.has(path) || (inside && !holdsFiles(walk, path, inside))
    if (!isCovered) found.closed.push(path)
    else if (!add(walk, path, inside)) return false
  }
  return true
}

/** Stops at the first file, so that a large ignored folder costs little. */
function holdsFiles(walk: Walk, folder: string, listing: Listing): boolean {
  if (listing.hasFiles) return true
  return listing.folders.some((name) => {
    const path = pathOf(folder, name)
    const inside = listingOf(walk, path)
    return !inside || holdsFiles(walk, path, inside)
  })
}

/** Undefined for a folder that is gone or cannot be read. */
function listingOf({ shadow }: Walk, folder: string): Seen | undefined {
  const place = join(shadow.root, folder)
  try {
    const stat = lstatSync(place, { bigint: true })
    if (!stat.isDirectory()) return undefined
    const mode = Number(stat.mode & 0o7777n)
    const stamp = stampOf(stat)
    const known = shadow.listings.get(folder)
    if (known?.stamp === stamp) return { ...known, mode }
    const listing = read(place, stamp)
    const isSettled = Number(stat.ctimeNs / 1_000_000n) < Date.now() - tick
    if (isSettled) shadow.listings.set(folder, listing)
    return { ...listing, mode }
  } catch {
    return undefined
  }
}

function read(place: string, stamp: string): Listing {
  const listing: Listing = { stamp, folders: [], special: [], hasFiles: false }
  for (const entry of readdirSync(place, { withFileTypes: true })) {
    if (entry.isDirectory()) {
      if (entry.name === ".git") listing.hasFiles = true
      else listing.folders.push(entry.name)
    } else if (entry.isFile() || entry.isSymbolicLink()) listing.hasFiles = true
    else listing.special.push([entry.name, specialKind(entry as Dirent)])
  }
  return listing
}

function stampOf({ ino, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${ino}:${mtimeNs}:${ctimeNs}`
}

function pathOf(folder: string, name: string): string {
  return folder ? `${folder}/${name}` : name
}

/** An undo can remove a new pipe, socket or device, but cannot create a removed one again. */
function addSpecial(
  shadow: Shadow,
  options: { base: Base; old: Folders; now: Folders; closed: Set<string>; found: Found },
): void {
  const { base, old, now, closed, found } = options
  const isListed = new Set(found.files.map(({ path }) => path))
  for (const [path, kind] of Object.entries(now.special)) {
    const stat = statAt(shadow.root, path)
    if (path in old.special || isListed.has(path) || isBelow(closed, path) || !stat) continue
    const after = stateOf(shadow, path, { maxBytes: 0 })
    if (isSince(stat.birthtimeNs || stat.ctimeNs, base)) found.files.push({ path, before: null, after })
    else found.uncovered.push({ path, reason: `it is a ${kind} that was moved here` })
  }
  for (const [path, kind] of Object.entries(old.special))
    if (!(path in now.special))
      found.uncovered.push({ path, reason: `it was a ${kind}; undo cannot make one` })
}

function isBelow(folders: ReadonlySet<string>, path: string): boolean {
  for (let at = path; at !== "."; at = dirname(at)) if (folders.has(at)) return true
  return false
}
