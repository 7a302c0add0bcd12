// Reverts calls, or previews a revert. The plan is stored before the first file is changed and removed after the last one.
// So the next revert finishes one that was cut off, and does not mistake its changes for those of a person.
import { z } from "zod"
import { modeAt } from "#ability/snapshot/scan/folders.ts"
import { missingFolders, stateOf } from "#ability/snapshot/scan/state-of.ts"
import { atThisMoment, Conflict } from "#ability/snapshot/store/errors.ts"
import type { Snapshot } from "#ability/snapshot/store/list.ts"
import { notesOf } from "#ability/snapshot/store/list.ts"
import { isSame, Part, type Uncovered } from "#ability/snapshot/store/part.ts"
import { sendObjects } from "#ability/snapshot/store/send-objects.ts"
import { addHashes } from "#ability/snapshot/store/session-log.ts"
import type { Shadow } from "#ability/snapshot/store/shadow.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { createId } from "#util/id.ts"
import { apply } from "./apply.ts"
import { differingLinks } from "./apply-links.ts"
import { emptyFolders, Plan, plan } from "./plan.ts"

const Begun = z.object({
  target: z.string(),
  part: Part,
  plan: Plan,
  notes: z.array(z.string()).default([]),
})
export type Begun = z.infer<typeof Begun>

export type Reverted = {
  /** Paths that are as before again; the names of folders end with a slash. */
  restored: string[]
  /** Paths that the calls had created. */
  removed: string[]
  /** Paths that cannot be reverted safely. With `force`, only those whose bytes are missing stay as they are. */
  conflicts: Uncovered[]
  /** Effects of these calls that no revert can undo. */
  notes: string[]
  /** The state right before the revert, so that the revert can be undone too. */
  part?: Part
}

/** A revert of this session that was begun and not finished. */
export async function begunRevert(sessionId: string): Promise<Begun | undefined> {
  try {
    return Begun.safeParse(await Storage.read(keyOf(sessionId))).data
  } catch (error) {
    if (error instanceof Storage.NotFound || error instanceof Storage.Corrupt) return undefined
    throw error
  }
}

export async function preview(shadow: Shadow, snapshots: readonly Snapshot[]): Promise<Reverted> {
  const made = await plan(shadow, snapshots)
  return { ...named(shadow, made), conflicts: made.conflicts, notes: notesOf(snapshots) }
}

export async function restore(
  shadow: Shadow,
  snapshots: readonly Snapshot[],
  options: { sessionId: string; target: string; force?: boolean | undefined },
): Promise<Reverted> {
  const { sessionId, target, force } = options
  const made = await plan(shadow, snapshots)
  if (made.conflicts.length && !force) throw new Conflict(made.conflicts)
  const actions = made.actions.map((action) => ({
    ...action,
    from: stateOf(shadow, action.path, { keep: true }),
  }))
  const swapped = actions.filter(({ from }, i) => !isSame(from, made.actions[i]!.from))
  if (swapped.length && !force)
    throw new Conflict(swapped.map(({ path }) => ({ path, reason: atThisMoment })))
  const part = partOf(shadow, { ...made, actions })
  addHashes(
    shadow,
    sessionId,
    actions.map(({ from }) => from?.hash),
  )
  await sendObjects(shadow, sessionId)
  const begun: Begun = { target, part, plan: { ...made, actions }, notes: notesOf(snapshots) }
  await Storage.write(keyOf(sessionId), begun)
  return finish(shadow, begun)
}

/** Finish a revert that was cut off. */
export async function resume(
  shadow: Shadow,
  begun: Begun,
  options: { force?: boolean | undefined } = {},
): Promise<Reverted> {
  if (!options.force) return finish(shadow, begun)
  const { plan } = begun
  const actions = plan.actions.map((action) => ({
    ...action,
    from: stateOf(shadow, action.path, { keep: true }),
  }))
  const folderActions = plan.folderActions.map((action) => ({ ...action, from: modeAt(shadow, action.path) }))
  return finish(shadow, { ...begun, plan: { ...plan, actions, folderActions } })
}

/** Remove the plan: the revert is over, and the session has a message about it. */
export async function forget(sessionId: string): Promise<void> {
  await Storage.remove(keyOf(sessionId))
}

async function finish(shadow: Shadow, begun: Begun): Promise<Reverted> {
  const { plan, part, notes } = begun
  const names = named(shadow, plan)
  await apply(shadow, plan, `.vitamin-${part.id}`)
  const files = part.files.map((file) => ({ ...file, after: stateOf(shadow, file.path) }))
  const changedFolders = part.changedFolders.map((one) => ({ ...one, after: modeAt(shadow, one.path) }))
  return { ...names, conflicts: plan.conflicts, notes, part: { ...part, files, changedFolders, done: true } }
}

/** The state right before the revert, in the form of the snapshot of a call. */
function partOf(shadow: Shadow, { actions, folders, folderActions, links }: Plan): Part {
  const { root, place } = shadow
  const covered = actions.filter(({ from }) => from?.kind !== "file" || from.hash)
  const uncovered = actions
    .filter((action) => !covered.includes(action))
    .map(({ path }) => ({ path, reason: "it was too large to keep before the revert" }))
  return {
    id: createId("snap"),
    time: Date.now(),
    tool: "revert",
    root: place,
    scope: "paths",
    done: false,
    files: covered.map(({ path, from }) => ({ path, before: from })),
    folders: [
      ...new Set([
        ...actions.flatMap(({ path, to }) => (to ? missingFolders(root, path) : [])),
        ...folderActions.flatMap(({ path }) => missingFolders(root, `${path}/x`)),
      ]),
    ],
    changedFolders: [...folders, ...folderActions.map(({ path }) => path)].flatMap((path) => {
      const before = modeAt(shadow, path)
      return before === null ? [] : [{ path, before }]
    }),
    links: differingLinks(shadow, links).map(({ paths, before }) => ({
      paths,
      before: before === "linked" ? "apart" : "linked",
    })),
    uncovered,
  }
}

/** Folders that are removed with their content are not listed; empty ones are. */
function named(shadow: Shadow, plan: Plan): Pick<Reverted, "restored" | "removed"> {
  const { actions, folderActions } = plan
  const restored = actions.flatMap(({ path, to }) => (to ? [path] : []))
  const linked = differingLinks(shadow, plan.links).flatMap(({ paths }) => paths)
  return {
    restored: [...new Set([...restored, ...linked]), ...folderActions.map(({ path }) => `${path}/`)],
    removed: [
      ...actions.flatMap(({ path, to }) => (to ? [] : [path])),
      ...emptyFolders(shadow, plan).map((path) => `${path}/`),
    ],
  }
}

function keyOf(sessionId: string): string[] {
  return ["revert", sessionId]
}
