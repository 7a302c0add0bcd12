// Plans how to restore every path that some calls changed, and lists the conflicts: paths that somebody else changed
// since, and paths whose bytes were not stored.
import { existsSync, readdirSync } from "node:fs"
import { dirname, join } from "node:path"
import { z } from "zod"
import { statAt, stateOf } from "#ability/snapshot/scan/state-of.ts"
import { changedBetween, changedSince, InvalidRoot, unknownOwner } from "#ability/snapshot/store/errors.ts"
import type { Snapshot } from "#ability/snapshot/store/list.ts"
import { Change, isSame, LinkChange, State, Uncovered, withoutFolder } from "#ability/snapshot/store/part.ts"
import type { Shadow } from "#ability/snapshot/store/shadow.ts"
import { FolderAction, planFolders } from "./folders.ts"

const Action = z.object({ path: Change.shape.path, from: State, to: State })
export type Action = z.infer<typeof Action>
export const Plan = z.object({
  actions: z.array(Action),
  /** Folders that the calls created, to be removed once they are empty. */
  folders: z.array(z.string()),
  folderActions: z.array(FolderAction).default([]),
  links: z.array(LinkChange).default([]),
  conflicts: z.array(Uncovered),
})
export type Plan = z.infer<typeof Plan>

type Chain = { to: State; expected: State | undefined; states: State[]; problem?: string }

export async function plan(shadow: Shadow, snapshots: readonly Snapshot[]): Promise<Plan> {
  const conflicts: Uncovered[] = []
  const actions: Action[] = []
  for (const [path, chain] of chainsOf(shadow, snapshots, conflicts)) {
    const from = stateOf(shadow, path)
    if (isSame(from, chain.to)) continue
    const problem = chain.problem ?? problemOf(from, chain)
    if (problem) conflicts.push({ path, reason: problem })
    if (canRestore(chain.to)) actions.push({ path, from, to: chain.to })
  }
  // If only the mode has to change, no bytes are needed.
  const needed = actions.filter(({ from, to }) => to?.hash !== undefined && from?.hash !== to.hash)
  const isNeeded = new Set(needed)
  const lost = await shadow.store.missing(needed.map(({ to }) => to!.hash!))
  const isLost = (action: Action) => isNeeded.has(action) && lost.has(action.to!.hash!)
  for (const { path } of actions.filter(isLost))
    conflicts.push({ path, reason: "its bytes are no longer in the store of snapshots" })
  const found = actions.filter((action) => !isLost(action))
  const blocked = blockedIn(shadow, found)
  for (const [path, reason] of blocked) conflicts.push({ path, reason })
  const kept = found.filter(({ path }) => !blocked.has(path))
  const goes = new Set(kept.flatMap(({ path, to }) => (to === null ? [path] : [])))
  const planned = planFolders(shadow, { snapshots, goes, conflicts })
  return { actions: kept, ...planned, links: linksIn(snapshots), conflicts }
}

/** Folders that the calls made and in which nothing is. */
export function emptyFolders({ root }: Shadow, { folders }: Pick<Plan, "folders">): string[] {
  const isEmpty = (path: string) => statAt(root, path)?.isDirectory() && holdsOnly(root, path, new Set())
  return folders.filter(isEmpty)
}

/** The links as they were before the first call. */
function linksIn(snapshots: readonly Snapshot[]): LinkChange[] {
  const found = new Map<string, LinkChange>()
  for (const { part } of snapshots)
    for (const link of part.links) {
      const key = link.paths.toSorted().join("\0")
      if (!found.has(key)) found.set(key, link)
    }
  return [...found.values()]
}

/** For each path how it was before the first call, and how the last one left it. */
function chainsOf(
  shadow: Shadow,
  snapshots: readonly Snapshot[],
  conflicts: Uncovered[],
): Map<string, Chain> {
  const chains = new Map<string, Chain>()
  const others = linkedNames(snapshots)
  for (const [at, { part }] of snapshots.entries()) {
    if (part.root !== shadow.place && existsSync(part.root)) throw new InvalidRoot(part.root, shadow.root)
    if (part.note?.startsWith("not covered"))
      conflicts.push({ path: `(what ${part.tool} changed)`, reason: part.note })
    conflicts.push(...part.uncovered)
    for (const change of part.files.flatMap((file) => [file, ...others(at, file)])) {
      const after = part.late ? undefined : change.after
      extend(chains, { ...change, after })
    }
  }
  return chains
}

function extend(chains: Map<string, Chain>, { path, before, after }: Change): void {
  const chain = chains.get(path)
  if (!chain) {
    chains.set(path, { to: withoutFolder(before), expected: after, states: [before, after ?? null] })
    return
  }
  // The state before this call must be one that an earlier call left or, if they ran in parallel, found.
  const isKnown = chain.expected === undefined || chain.states.some((state) => isSame(state, before))
  if (!isKnown) chain.problem = changedBetween
  chain.states.push(before, after ?? null)
  chain.expected = after
}

function problemOf(from: State, { expected }: Chain): string | undefined {
  if (expected === undefined) return unknownOwner
  return isSame(from, expected) ? undefined : changedSince
}

function canRestore(to: State): boolean {
  return to === null || (to.kind !== "other" && to.hash !== undefined)
}

/** Paths that cannot be restored, because something that is not ours to remove is in the way. */
function blockedIn({ root }: Shadow, actions: Action[]): Map<string, string> {
  const goes = new Set(actions.flatMap(({ path, to }) => (to === null ? [path] : [])))
  const blocked = new Map<string, string>()
  for (const { path, from, to } of actions) {
    if (to === null) continue
    if (from?.kind === "folder" && !holdsOnly(root, path, goes))
      blocked.set(path, "there is a folder now, with something else in it")
    const above = noFolderAbove(root, path)
    if (above !== undefined && !goes.has(above)) blocked.set(path, `${above} has to be a folder, and is none`)
  }
  return blocked
}

function noFolderAbove(root: string, path: string): string | undefined {
  for (let folder = dirname(path); folder !== "."; folder = dirname(folder)) {
    const stat = statAt(root, folder)
    if (stat) return stat.isDirectory() ? undefined : folder
  }
  return undefined
}

function holdsOnly(root: string, folder: string, goes: Set<string>): boolean {
  try {
    return readdirSync(join(root, folder), { withFileTypes: true }).every((entry) => {
      const path = join(folder, entry.name)
      return entry.isDirectory() ? holdsOnly(root, path, goes) : goes.has(path)
    })
  } catch {
    return false
  }
}

/** Returns a function that repeats a change for the other names (hard links) of the file. `write` and `edit` know only
 * one name; the links that commands made or broke tell the others. `at` is the position of the snapshot in the list. */
function linkedNames(snapshots: readonly Snapshot[]): (at: number, change: Change) => Change[] {
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
