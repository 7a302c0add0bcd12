// Restores the folders that some calls removed or whose mode they changed, and lists those that they created.

import { basename, dirname } from "node:path"
import { z } from "zod"
import { modeAt } from "#ability/snapshot/scan/folders.ts"
import { statAt } from "#ability/snapshot/scan/state-of.ts"
import {
  atThisMoment,
  Conflict,
  changedBetween,
  changedSince,
  unknownOwner,
} from "#ability/snapshot/store/errors.ts"
import type { Snapshot } from "#ability/snapshot/store/list.ts"
import { FolderChange, type Uncovered } from "#ability/snapshot/store/part.ts"
import type { Shadow } from "#ability/snapshot/store/shadow.ts"
import { openFolder, setMode } from "./open-folder.ts"

export const FolderAction = z.object({
  path: FolderChange.shape.path,
  from: z.number().nullable(),
  to: z.number(),
})
export type FolderAction = z.infer<typeof FolderAction>

type Chain = {
  to: number | null
  expected: number | null | undefined
  modes: Set<number | null>
  isRemade: boolean
  problem?: string
}

/** `goes` are the paths that are removed before the folders are created. */
export function planFolders(
  shadow: Shadow,
  options: { snapshots: readonly Snapshot[]; goes: ReadonlySet<string>; conflicts: Uncovered[] },
): { folderActions: FolderAction[]; folders: string[] } {
  const { snapshots, goes, conflicts } = options
  const folderActions: FolderAction[] = []
  const { chains, made } = chainsOf(snapshots)
  for (const [path, chain] of chains) {
    const from = modeAt(shadow, path)
    if (chain.to === null || from === chain.to) continue
    const isBlocked = from === null && !goes.has(path) && statAt(shadow.root, path) !== undefined
    const reason = isBlocked ? "it has to be a folder, and is none" : problemOf(chain, from)
    if (reason) conflicts.push({ path, reason })
    if (!isBlocked) folderActions.push({ path, from, to: chain.to })
  }
  const folders = [...made].filter((path) => (chains.get(path)?.to ?? null) === null)
  return { folderActions, folders }
}

/** Called before anything is put into the folders: a command may have taken away our own right to write there. */
export function openFolders(shadow: Shadow, actions: readonly FolderAction[]): void {
  for (const { path, from, to } of shallowFirst(actions)) {
    const now = modeAt(shadow, path)
    if (now === null) continue
    if (now !== from && now !== to && now !== (to | 0o700))
      throw new Conflict([{ path, reason: atThisMoment }])
    if (now !== to) chmod(shadow, path, to | 0o700)
  }
}

/** Called after everything is in the folders: makes those that are missing and sets the modes. */
export function finishFolders(shadow: Shadow, actions: readonly FolderAction[]): void {
  const ordered = shallowFirst(actions)
  for (const { path } of ordered) openFolder(shadow.root, path, true)![Symbol.dispose]()
  for (const { path, to } of ordered.toReversed()) if (modeAt(shadow, path) !== to) chmod(shadow, path, to)
}

/** For each path its mode before the first call and after the last one; and the folders that were created. */
function chainsOf(snapshots: readonly Snapshot[]): { chains: Map<string, Chain>; made: Set<string> } {
  const made = new Set<string>()
  const chains = new Map<string, Chain>()
  for (const { part } of snapshots) {
    for (const { path, before, after } of part.changedFolders) {
      const chain = chains.get(path) ?? {
        to: made.has(path) ? null : before,
        expected: before,
        modes: new Set([before]),
        isRemade: false,
      }
      // The mode before this call must be one that an earlier call left or, if they ran in parallel, found.
      const isKnown = chain.isRemade || chain.expected === undefined || chain.modes.has(before)
      if (!isKnown) chain.problem = changedBetween
      chain.modes.add(after ?? null)
      chain.expected = part.late ? undefined : after
      chain.isRemade = false
      chains.set(path, chain)
    }
    for (const path of part.folders) {
      made.add(path)
      const chain = chains.get(path)
      if (chain) chain.isRemade = true
    }
  }
  return { chains, made }
}

/** If a later call created the folder again, its mode is unknown and not compared. */
function problemOf({ expected, isRemade, problem }: Chain, from: number | null): string | undefined {
  if (problem || isRemade) return problem
  if (expected === undefined) return unknownOwner
  return from === expected ? undefined : changedSince
}

function chmod({ root }: Shadow, path: string, mode: number): void {
  using folder = openFolder(root, dirname(path), false)
  if (folder) setMode(folder, basename(path), mode)
}

function shallowFirst(actions: readonly FolderAction[]): FolderAction[] {
  return [...actions].sort((a, b) => a.path.split("/").length - b.path.split("/").length)
}
