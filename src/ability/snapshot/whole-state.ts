// The whole state of a work tree beside what git's index has: every file that differs from the index or that git does not
// know, the modes of all files, and the folders. Another machine that has the same index makes the same files of it.
import { chmodSync, lstatSync } from "node:fs"
import { dirname, join } from "node:path"
import { z } from "zod"
import { apply } from "#ability/snapshot/restore/apply.ts"
import { loadModes, modeIn } from "#ability/snapshot/scan/file-modes.ts"
import { modeAt } from "#ability/snapshot/scan/folders.ts"
import { copyIndex, trackedIn } from "#ability/snapshot/scan/scan.ts"
import { stateOf } from "#ability/snapshot/scan/state-of.ts"
import * as Worktree from "#ability/snapshot/scan/worktree.ts"
import { Change, isSame, State, withoutFolder } from "#ability/snapshot/store/part.ts"
import { sendObjects } from "#ability/snapshot/store/send-objects.ts"
import { addHashes } from "#ability/snapshot/store/session-log.ts"
import * as Shadow from "#ability/snapshot/store/shadow.ts"
import * as Log from "#kernel/process/log.ts"

const Path = Change.shape.path
export const WholeState = z.object({
  files: z.record(Path, State),
  folders: z.record(Path, z.number()),
  /** The usual modes of plain and of executable files, and the exceptions. */
  usual: z.tuple([z.number(), z.number()]),
  others: z.record(Path, z.number()),
})
export type WholeState = z.infer<typeof WholeState>

/** `also`: paths that count although git ignores them. */
export async function readState(also: readonly string[]): Promise<WholeState> {
  const shadow = Shadow.get()
  const base = await Worktree.before(shadow)
  const modes = loadModes(shadow, base.index, base.version)
  const files: WholeState["files"] = {}
  for (const [path, { state }] of Object.entries(base.files)) files[path] = state
  for (const path of also) files[path] ??= stateOf(shadow, path, { keep: true })
  const lost = Object.entries(files).filter(([, state]) => state && !state.hash && state.kind !== "folder")
  if (lost.length)
    Log.warn("files of the work tree are too large, or no files, and stay on this machine", {
      paths: lost.slice(0, 20).map(([path]) => path),
    })
  const { usual = [0o644, 0o755] as [number, number], others = {} } = modes ?? {}
  return { files, folders: base.folders?.modes ?? {}, usual, others }
}

/** Stores bytes for a session, and everything that a state of it needs. Returns the names of the bytes. */
export async function keepBytes(
  sessionId: string,
  all: readonly Buffer[],
  state: WholeState,
): Promise<string[]> {
  const shadow = Shadow.get()
  const names = all.map((bytes) => shadow.store.put(bytes))
  addHashes(shadow, sessionId, [...names, ...Object.values(state.files).map((file) => file?.hash)])
  await sendObjects(shadow, sessionId)
  return names
}

/** Throws `Snapshot.Lost` if no machine has them. */
export function readBytes(name: string): Promise<Buffer> {
  return Shadow.get().store.read(name)
}

/** Makes the work tree like the state. It must have the files of the index, and nothing else. */
export async function applyState({ files, folders, ...modes }: WholeState): Promise<void> {
  const shadow = Shadow.get()
  const actions = Object.entries(files).flatMap(([path, state]) => {
    const [from, to] = [stateOf(shadow, path), withoutFolder(state)]
    return isSame(from, to) || (to && !to.hash) ? [] : [{ path, from, to: withoutInode(to) }]
  })
  const gone = new Set<string>()
  for (const { path, to } of actions)
    for (let folder = dirname(path); !to && folder !== "."; folder = dirname(folder))
      if (!(folder in folders)) gone.add(folder)
  await apply(
    shadow,
    { actions, folders: [...gone], folderActions: [], links: [], conflicts: [] },
    ".vitamin-restore",
  )
  await setModes(shadow, files, modes)
  const folderActions = Object.entries(folders).flatMap(([path, to]) => {
    const from = modeAt(shadow, path)
    return from === to ? [] : [{ path, from, to }]
  })
  await apply(
    shadow,
    { actions: [], folders: [], folderActions, links: [], conflicts: [] },
    ".vitamin-restore",
  )
}

/** An inode of another machine says nothing here. */
function withoutInode(state: State): State {
  if (!state) return state
  const { inode: _, ...rest } = state
  return rest
}

/** Git keeps only one bit of the mode of a file. */
async function setModes(
  shadow: Shadow.Shadow,
  files: WholeState["files"],
  { usual, others }: Pick<WholeState, "usual" | "others">,
): Promise<void> {
  const index = copyIndex(shadow)
  if (!index) return
  for (const name of (await trackedIn(shadow, index)).names) {
    if (Object.hasOwn(files, name)) continue
    const stat = lstatSync(join(shadow.root, name), { throwIfNoEntry: false })
    if (!stat?.isFile()) continue
    const isProgram = (stat.mode & 0o100) !== 0
    const wanted = modeIn({ usual, others, version: "", links: {}, young: [] }, name, isProgram)
    if ((stat.mode & 0o7777) !== wanted) chmodSync(join(shadow.root, name), wanted)
  }
}
