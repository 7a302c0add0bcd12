// Takes a snapshot around one call: the state before it, and after it.
import { relative, resolve } from "node:path"
import { z } from "zod"
import type { Base } from "#ability/snapshot/scan/changed-files.ts"
import { missingFolders, stateOf } from "#ability/snapshot/scan/state-of.ts"
import * as Worktree from "#ability/snapshot/scan/worktree.ts"
import { NotTaken } from "#ability/snapshot/store/errors.ts"
import { commandNote, joinNotes, shorten } from "#ability/snapshot/store/list.ts"
import { type Part, type State, Uncovered } from "#ability/snapshot/store/part.ts"
import { sendObjects } from "#ability/snapshot/store/send-objects.ts"
import { addHashes, type Pending, removePending, writePending } from "#ability/snapshot/store/session-log.ts"
import * as Shadow from "#ability/snapshot/store/shadow.ts"
import * as Bus from "#kernel/bus/bus.ts"
import { Instance } from "#kernel/instance.ts"
import * as Log from "#kernel/process/log.ts"
import { about } from "#util/about.ts"
import { errorCode, errorText } from "#util/error.ts"
import { isInside, PathInvalid, statInside } from "#util/file/resolve-inside.ts"
import { createId } from "#util/id.ts"
import { isChanged } from "./is-changed.ts"
import { pruneStore } from "./prune-store.ts"

export type Asked = {
  sessionId: string
  messageId: string
  callId: string
  tool: string
  /** The files that the call will change; "worktree" if it may change any file. */
  paths: readonly string[] | "worktree"
  /** What else a person should know. */
  note?: string | undefined
}
/** The caller calls `finish` when the call is over, in every case, and `close` when its result is stored, or if the
 * call never ran. */
export type Taken = { part: Part; finish(): Promise<Part>; close(): void }

export const Created = Bus.define(
  "snapshot.created",
  z.object({
    sessionId: z.string(),
    messageId: z.string(),
    callId: z.string(),
    snapshotId: about("The snapshot, for an undo.", z.string()),
    files: z.array(z.string()).describe("the changed files whose earlier content is stored"),
    uncovered: about("Files that an undo does not restore.", z.array(Uncovered)),
    note: about("What else a person should know.", z.string().optional()),
  }),
  { when: "A tool call that may change files has ended, and its snapshot is stored." },
)

const maxBytes = 64_000_000
const elsewhere = Instance.state((): { take?: typeof take } => ({}))

/** Let another process take all snapshots of this instance: it has the store. */
export function useTaker(taker: typeof take): void {
  elsewhere().take = taker
}

/** Undefined if snapshots are off. */
export async function take(asked: Asked): Promise<Taken | undefined> {
  const taker = elsewhere().take
  if (taker) return taker(asked)
  if (await Shadow.offReason()) return undefined
  const shadow = Shadow.get()
  try {
    await pruneStore(shadow)
    const taken =
      asked.paths === "worktree" ? await takeWorktree(shadow, asked) : takePaths(shadow, asked, asked.paths)
    await sendObjects(shadow, asked.sessionId)
    return taken
  } catch (error) {
    if (errorCode(error) === undefined) throw error
    throw new NotTaken(errorText(error), error)
  }
}

/** Does what the first snapshot would have to do before it is taken. */
export async function prepare(): Promise<void> {
  if (!(await Shadow.offReason())) await pruneStore(Shadow.get())
}

/** Finishes the snapshot of a command after a crash. It records the present state, which others may have changed. */
export async function finishLate(shadow: Shadow.Shadow, pending: Pending): Promise<Part> {
  return { ...(await settle(shadow, pending)), done: true, late: true }
}

function takePaths(shadow: Shadow.Shadow, asked: Asked, paths: readonly string[]): Taken {
  const part = newPart(shadow, asked, "paths")
  for (const path of paths) {
    const real = placeOf(path)
    if (real === undefined) continue
    const name = relative(shadow.root, real)
    if (!isInside(shadow.root, real) || name === "") {
      part.uncovered.push({ path, reason: "it is outside of the work tree" })
      continue
    }
    const before = stateOf(shadow, name, { keep: true, maxBytes })
    if (before && !before.hash) part.uncovered.push({ path: name, reason: whyNot(before.kind) })
    else part.files.push({ path: name, before })
    if (!before) part.folders.push(...missingFolders(shadow.root, name))
  }
  addHashes(
    shadow,
    asked.sessionId,
    part.files.map(({ before }) => before?.hash),
  )
  const pending = pendingOf(asked, part)
  writePending(shadow, pending)
  return {
    part,
    async finish() {
      part.files = part.files.map((file) => ({ ...file, after: stateOf(shadow, file.path, { maxBytes }) }))
      part.done = true
      announce(asked, part)
      return part
    },
    close: () => removePending(shadow, pending),
  }
}

async function takeWorktree(shadow: Shadow.Shadow, asked: Asked): Promise<Taken> {
  const part = newPart(shadow, asked, "worktree")
  const note = joinNotes([shadow.noted.has(asked.sessionId) ? undefined : commandNote, asked.note])
  if (note) part.note = note
  shadow.noted.add(asked.sessionId)
  let base: Base
  try {
    base = await Worktree.before(shadow)
  } catch (error) {
    // If the store cannot be written, the command does not run.
    if (errorCode(error) !== undefined) throw error
    Log.warn("a command runs without a snapshot", { reason: errorText(error) })
    part.note = `not covered: ${errorText(error)}`
    part.done = true
    return { part, finish: async () => part, close() {} }
  }
  const pending = { ...pendingOf(asked, part), base }
  addHashes(
    shadow,
    asked.sessionId,
    Object.values(base.files).map(({ state }) => state?.hash),
  )
  writePending(shadow, pending)
  return {
    part,
    async finish() {
      Object.assign(part, await settle(shadow, pending))
      await sendObjects(shadow, asked.sessionId)
      announce(asked, part)
      return part
    },
    close: () => removePending(shadow, pending),
  }
}

/** If even the scan fails, the command is recorded as not covered, and the work continues. */
async function settle(shadow: Shadow.Shadow, pending: Pending): Promise<Part> {
  const { part, base, sessionId } = pending
  if (!base) return part
  try {
    return shorten(shadow, sessionId, { ...part, done: true, ...(await Worktree.after(shadow, base)) })
  } catch (error) {
    Log.warn("what a command changed is not known", { reason: errorText(error) })
    return { ...part, done: true, note: `not covered: ${errorText(error)}` }
  }
}

function pendingOf({ sessionId, messageId, callId }: Asked, part: Part): Pending {
  return { sessionId, messageId, callId, part }
}

function newPart({ place: root }: Shadow.Shadow, { tool }: Asked, scope: Part["scope"]): Part {
  const id = createId("snap")
  const nothing = { files: [], folders: [], changedFolders: [], links: [], uncovered: [] }
  return { id, time: Date.now(), tool, root, scope, done: false, ...nothing }
}

/** The real path of a file that will be written, even if it does not exist yet. Undefined for an invalid path: the tool
 * itself reports a better error. */
function placeOf(path: string): string | undefined {
  try {
    return statInside("/", resolve(path)).real
  } catch (error) {
    if (error instanceof PathInvalid || errorCode(error) === "EACCES") return undefined
    throw error
  }
}

function whyNot(kind: NonNullable<State>["kind"]): string {
  return kind === "file" ? "it is too large to keep, or cannot be read" : "it is neither a file nor a link"
}

function announce({ sessionId, messageId, callId }: Asked, part: Part): void {
  const { id: snapshotId, uncovered, note } = part
  const files = part.files
    .filter(isChanged)
    .slice(0, 200)
    .map(({ path }) => path)
  if (!files.length && !part.list && !uncovered.length) return
  const about = { sessionId, messageId, callId, snapshotId, files, uncovered: uncovered.slice(0, 200) }
  Bus.publish(Created, { ...about, ...(note ? { note } : {}) })
}
