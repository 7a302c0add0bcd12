// The other names of a file that `write` or `edit` changed in place: the call knew only one of them, but the links that
// commands before it made, or commands after it broke, are on record.
import type { Snapshot } from "#ability/snapshot/store/list.ts"
import type { Change } from "#ability/snapshot/store/part.ts"

/** For each change of the snapshot at a place in the list, the same change for each of its other names. */
export function linkedNames(snapshots: readonly Snapshot[]): (at: number, change: Change) => Change[] {
  const groups = snapshots.flatMap(({ part }, at) => part.links.map((link) => ({ ...link, at })))
  return (at, change) => {
    const inode = change.before?.inode
    const isCommand = snapshots[at]!.part.scope === "worktree"
    if (isCommand || !inode || change.after?.inode !== inode) return []
    const names = groups.flatMap((group) => {
      const wasLinked = group.before === "apart" ? group.at < at : group.at > at
      return wasLinked && group.inode === inode && group.paths.includes(change.path) ? group.paths : []
    })
    return [...new Set(names)].filter((path) => path !== change.path).map((path) => ({ ...change, path }))
  }
}
