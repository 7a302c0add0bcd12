// Restores hard links: names that were one file become one again, names that were separate get files of their own. Only
// names with the same content and mode are touched, so that no byte can be lost.
import { linkSync, renameSync } from "node:fs"
import { basename, dirname } from "node:path"
import { statAt, stateOf } from "#ability/snapshot/scan/state-of.ts"
import { isSame, type LinkChange, type State } from "#ability/snapshot/store/part.ts"
import type { Shadow } from "#ability/snapshot/store/shadow.ts"
import { openFolder, replaceFile, within } from "./open-folder.ts"

/** `name` is the name for temporary files. */
export async function applyLinks(shadow: Shadow, links: readonly LinkChange[], name: string): Promise<void> {
  for (const link of links) {
    const [source, ...others] = sourceFirst(shadow, link)
    for (const path of others) {
      const [one, other] = [stateOf(shadow, source!, { keep: true }), stateOf(shadow, path, { keep: true })]
      if (one?.kind !== "file" || !isSame(one, other)) continue
      const isLinked = inodeOf(shadow, source!) === inodeOf(shadow, path)
      if (link.before === "linked" && !isLinked) relink(shadow, { source: source!, path, name })
      if (link.before === "apart" && isLinked) await part(shadow, { path, state: one, name })
    }
  }
}

/** The links that differ from their state before the calls. */
export function differingLinks(shadow: Shadow, links: readonly LinkChange[]): LinkChange[] {
  return links.filter(({ paths, before }) => {
    const inodes = paths.map((path) => inodeOf(shadow, path))
    if (inodes.some((inode) => inode === undefined)) return before === "linked"
    return before === "linked" ? new Set(inodes).size > 1 : new Set(inodes).size < inodes.length
  })
}

/** The name that still has the earlier inode comes first, because that file may have more names. */
function sourceFirst(shadow: Shadow, { paths, inode }: LinkChange): string[] {
  const source = paths.find((path) => inodeOf(shadow, path) === inode) ?? paths[0]!
  return [source, ...paths.filter((path) => path !== source)]
}

function relink(
  { root }: Shadow,
  { source, path, name }: { source: string; path: string; name: string },
): void {
  using from = openFolder(root, dirname(source), false)
  using to = openFolder(root, dirname(path), false)
  if (!from || !to) return
  linkSync(within(from, basename(source)), within(to, name))
  renameSync(within(to, name), within(to, basename(path)))
}

async function part(
  { root, store }: Shadow,
  { path, state, name }: { path: string; state: NonNullable<State>; name: string },
): Promise<void> {
  const bytes = await store.read(state.hash!)
  using folder = openFolder(root, dirname(path), false)
  if (folder) replaceFile(folder, basename(path), { bytes, mode: state.mode, aside: name })
}

function inodeOf({ root }: Shadow, path: string): string | undefined {
  const stat = statAt(root, path)
  return stat?.isFile() ? String(stat.ino) : undefined
}
