// Which names were one file (hard links) before a command and are not after it, and which became one file.

import type { Change, LinkChange } from "#ability/snapshot/store/part.ts"
import type { FileModes, Shadow } from "#ability/snapshot/store/shadow.ts"
import type { Before } from "./changed-files.ts"
import { statAt } from "./state-of.ts"

type Looks = {
  base: Before
  /** Files that git has and whose links may have changed. */
  touched: readonly string[]
  modes: FileModes | undefined
  found: { files: Change[]; links: LinkChange[] }
}

/** Adds to `found` the groups of names that are no longer what they were. */
export function changedLinks(shadow: Shadow, { base, touched, modes, found }: Looks): void {
  const before = inodesBefore(base, modes)
  for (const [inode, paths] of groupsOf(before))
    if (paths.some((path) => inodeAt(shadow, path) !== inode))
      found.links.push({ paths, before: "linked", inode })
  const now = new Map<string, string>()
  const made = found.files.flatMap(({ path, after }) => (after?.inode ? [path] : []))
  for (const path of new Set([...Object.keys(base.files), ...touched, ...made])) {
    const stat = statAt(shadow.root, path)
    if (stat?.isFile() && stat.nlink > 1n) now.set(path, String(stat.ino))
  }
  for (const [inode, paths] of groupsOf(now))
    if (!paths.every((path) => before.get(path) === inode))
      found.links.push({ paths, before: "apart", inode })
}

function inodesBefore({ files }: Before, modes: FileModes | undefined): Map<string, string> {
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
