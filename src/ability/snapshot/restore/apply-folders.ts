// Folders put back: those that were removed are made again, and modes are set, through folders that are no links.
import { closeSync } from "node:fs"
import { basename, dirname } from "node:path"
import { modeAt } from "#ability/snapshot/scan/changed-folders.ts"
import { atThisMoment, Conflict } from "#ability/snapshot/store/errors.ts"
import type { Shadow } from "#ability/snapshot/store/shadow.ts"
import { openFolder, setMode } from "./open-folder.ts"
import type { FolderAction } from "./plan-folders.ts"

/** Before anything is put into them: a command may have taken away our own right to write there. */
export function openFolders(shadow: Shadow, actions: readonly FolderAction[]): void {
  for (const { path, from, to } of shallowFirst(actions)) {
    const now = modeAt(shadow, path)
    if (now === null) continue
    if (now !== from && now !== to && now !== (to | 0o700))
      throw new Conflict([{ path, reason: atThisMoment }])
    if (now !== to) chmod(shadow, path, to | 0o700)
  }
}

/** After everything is in them. */
export function finishFolders(shadow: Shadow, actions: readonly FolderAction[]): void {
  const ordered = shallowFirst(actions)
  for (const { path } of ordered) closeSync(openFolder(shadow.root, path, true)!.fd)
  for (const { path, to } of ordered.toReversed()) if (modeAt(shadow, path) !== to) chmod(shadow, path, to)
}

function chmod({ root }: Shadow, path: string, mode: number): void {
  const folder = openFolder(root, dirname(path), false)
  if (!folder) return
  try {
    setMode(folder, basename(path), mode)
  } finally {
    closeSync(folder.fd)
  }
}

function shallowFirst(actions: readonly FolderAction[]): FolderAction[] {
  return [...actions].sort((a, b) => a.path.split("/").length - b.path.split("/").length)
}
