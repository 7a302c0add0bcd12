// The folders of the work tree with their modes, the empty ones included, and the named pipes, sockets and devices in
// them: what git does not tell. A folder is read again only when its times say that its entries may have changed.
import { type BigIntStats, type Dirent, lstatSync, readdirSync } from "node:fs"
import { join } from "node:path"
import type { Listing, Shadow } from "#ability/snapshot/store/shadow.ts"
import { specialKind } from "./state-of.ts"

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

/** `known` are the folders that hold files which git knows or would add. Undefined where there are too many. */
export function walkFolders(shadow: Shadow, known: ReadonlySet<string>): Folders | undefined {
  const found: Folders = { modes: Object.create(null), special: Object.create(null), closed: [] }
  const walk = { shadow, known, found, count: 0 }
  return add(walk, "", listingOf(walk, "")) ? found : undefined
}

type Walk = { shadow: Shadow; known: ReadonlySet<string>; found: Folders; count: number }
type Seen = Listing & { mode: number }

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
