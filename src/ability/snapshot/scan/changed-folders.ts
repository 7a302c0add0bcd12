// Which folders a command made, removed or gave another mode, and which named pipes, sockets and devices it made or
// removed.
import { dirname } from "node:path"
import type { Change, FolderChange, Uncovered } from "#ability/snapshot/store/part.ts"
import type { Shadow } from "#ability/snapshot/store/shadow.ts"
import { type Before, isSince } from "./changed-files.ts"
import { statAt, stateOf } from "./state-of.ts"
import { type Folders, walkFolders } from "./walk-folders.ts"

type Found = { files: Change[]; folders: string[]; changedFolders: FolderChange[]; uncovered: Uncovered[] }

/** Adds to `found` what differs from `base`. */
export function changedFolders(
  shadow: Shadow,
  options: { base: Before; known: ReadonlySet<string>; found: Found },
): void {
  const { base, known, found } = options
  const old = base.folders
  const now = old && walkFolders(shadow, new Set([...known, ...Object.keys(old.modes)]))
  if (!old || !now) {
    found.uncovered.push({ path: "(folders)", reason: "there are too many of them to look at" })
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

/** A new one has no content and can go again. One that is gone cannot be made again. */
function addSpecial(
  shadow: Shadow,
  options: { base: Before; old: Folders; now: Folders; closed: Set<string>; found: Found },
): void {
  const { base, old, now, closed, found } = options
  const isListed = new Set(found.files.map(({ path }) => path))
  for (const [path, kind] of Object.entries(now.special)) {
    const stat = statAt(shadow.root, path)
    if (path in old.special || isListed.has(path) || isBelow(closed, path) || !stat) continue
    const after = stateOf(shadow.root, path, { store: shadow.store, keep: false, maxBytes: 0 })
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
