// The shadow of the current work tree: where its snapshots are stored, and whether there are any. Nothing is created
// on disk before the first change.
import { createHash } from "node:crypto"
import { readFileSync, realpathSync } from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"
import * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import * as Objects from "#kernel/objects/objects.ts"
import * as Global from "#kernel/process/global.ts"
import * as Log from "#kernel/process/log.ts"
import * as Vcs from "#kernel/vcs.ts"
import { realOf } from "#util/file/path-info.ts"
import { isInside } from "#util/file/resolve-inside.ts"
import { type Algorithm, createObjectStore } from "./object-store.ts"
import type { State } from "./part.ts"

export type Shadow = ReturnType<typeof makeShadow>

/** Modes and hard links of the files that were clean against one version of the index. */
export type FileModes = {
  version: string
  /** The most common modes of plain and of executable files; `others` has the exceptions. */
  usual: [plain: number, program: number]
  others: Record<string, number>
  /** The inodes of files that have several names. */
  links: Record<string, string>
  /** Files that are too young for git to notice a change of their mode. */
  young: string[]
}

/** The content of a folder. */
export type Listing = {
  stamp: string
  folders: string[]
  special: [name: string, kind: string][]
  hasFiles: boolean
}

const current = Instance.state(
  () => makeShadow(),
  (shadow) => Promise.allSettled(shadow.background),
)

export function get(): Shadow {
  return current()
}

/** Why no snapshots are taken here; undefined if they are. */
export async function offReason(): Promise<string | undefined> {
  const { root } = current()
  if (isInside(root, realOf(homedir()) ?? homedir()))
    return "no snapshots are taken in a home folder or above it"
  if ((await Config.get()).snapshot === false) return "snapshots are off in the configuration"
  return undefined
}

/** Work that nobody waits for, except the end of the instance. */
export function inBackground(shadow: Shadow, work: Promise<unknown>): void {
  const tracked: Promise<unknown> = work.finally(() => shadow.background.delete(tracked))
  tracked.catch(() => {})
  shadow.background.add(tracked)
}

function makeShadow() {
  const root = realpathSync(Instance.worktree)
  const repository = Instance.project.vcs ? Vcs.find(root) : undefined
  const algorithm = algorithmOf(repository)
  const folder = join(Global.data(), "snapshot", Instance.project.id)
  const gitDir = join(folder, algorithm === "sha1" ? "git" : "git-sha256")
  const objects = repository && join(repository.commonDir, "objects")
  const seen = new Map<string, { stamp: string; state: State }>()
  const named = new Map<string, Set<string>>()
  const onMade = () => {
    seen.clear()
    named.clear()
  }
  return {
    root,
    /** The work tree in records: a checkout has the same name on all machines. */
    place: Instance.project.place ?? root,
    folder,
    /** Separate for every work tree of the project. */
    key: createHash("sha256").update(root).digest("hex").slice(0, 16),
    repository,
    store: createObjectStore({ gitDir, algorithm, objects, onMade, fetch }),
    /** The known state of files that git does not have, so that unchanged ones are not read again. */
    seen,
    refreshed: new Set<string>(),
    /** Modes and hard links of clean files, for the version of the index that was used last. */
    modes: undefined as FileModes | undefined,
    /** Folders of the files in an index. */
    folders: undefined as { version: string; names: Set<string> } | undefined,
    /** The known content of folders, so that unchanged ones are not read again. */
    listings: new Map<string, Listing>(),
    /** Lists of the files of an index that are being read. */
    tracking: new Map<string, Promise<{ names: string[]; assumed: Buffer[] }>>(),
    /** Copies of the index without assume-unchanged flags. */
    checked: new Set<string>(),
    noted: new Set<string>(),
    /** The hashes that are recorded for a session. */
    named,
    /** Hashes of `named` whose bytes the shared store may not have yet. */
    unsent: new Map<string, Set<string>>(),
    background: new Set<Promise<unknown>>(),
    isPruneChecked: false,
  }
}

/** Bytes that another server has stored. */
async function fetch(hash: string): Promise<Buffer | undefined> {
  try {
    return await (await Objects.shared())?.get(hash)
  } catch (error) {
    if (!(error instanceof Objects.Damaged)) throw error
    // An undo says which files it cannot restore.
    Log.warn(error.message)
    return undefined
  }
}

function algorithmOf(repository: Vcs.Repository | undefined): Algorithm {
  if (!repository) return "sha1"
  try {
    const config = readFileSync(join(repository.commonDir, "config"), "utf8")
    return /^[ \t]*objectformat[ \t]*=[ \t]*sha256[ \t\r]*$/im.test(config) ? "sha256" : "sha1"
  } catch {
    return "sha1"
  }
}
