// What a command changed in the work tree, found by looking before and after. Before it, only what git does not keep is
// read; what git has comes out of its objects afterwards, for the few files that turn out to be changed.
import { basename, dirname, join } from "node:path"
import { NamedError } from "#util/error.ts"
import { cleanStates } from "./clean-states.ts"
import { type Change, isSame, type State, type Uncovered } from "./part.ts"
import { copyIndex, type Entry, scan } from "./scan.ts"
import type { Shadow } from "./shadow.ts"
import { stampOf, statAt, stateOf } from "./state-of.ts"

/** How things stood before a command. It is kept on disk until the command is over, so that a crash loses nothing. */
export type Base = {
  index?: string
  /** Milliseconds since 1970. */
  started: number
  /** All that git did not have as it was. */
  files: Record<string, Seen>
  /** Files whose names we cannot write. */
  odd: string[]
}
type Seen = { state: State; stamp?: string }
export type Found = { files: Change[]; folders: string[]; uncovered: Uncovered[] }

const maxFiles = 20_000
const maxFileBytes = 10_000_000
const maxBytes = 100_000_000
/** The clock of a file system may be this much behind ours, and two changes this near look like one. */
const tick = 50

const tooMany = new NamedError(
  "Snapshot.TooMany",
  `more than ${maxFiles} files here are not kept by git, so what a command changes is not covered; a .gitignore helps`,
)

export async function before(shadow: Shadow): Promise<Base> {
  const index = copyIndex(shadow)
  const { modified, untracked, uncovered } = await scan(shadow, index)
  if (modified.size + untracked.length > maxFiles) throw tooMany
  const files: Record<string, Seen> = Object.create(null)
  let room = maxBytes
  for (const path of [...modified.keys(), ...untracked]) {
    const seen = look(shadow, path, Math.min(room, maxFileBytes))
    if (seen.state?.hash) room -= seen.state.size
    files[path] = seen
  }
  return { ...(index ? { index } : {}), started: Date.now(), files, odd: uncovered.map(({ path }) => path) }
}

export async function after(shadow: Shadow, base: Base): Promise<Found> {
  const now = await scan(shadow, base.index)
  const uncovered = now.uncovered.filter(({ path }) => !base.odd.includes(path))
  const found: Found = { files: [], folders: [], uncovered }
  for (const [path, seen] of Object.entries(base.files)) addKnown(shadow, { path, seen, base, found })
  await addClean(shadow, { base, entries: newlyModified(now.modified, base), found })
  const rulesChanged = found.files.some(({ path }) => basename(path) === ".gitignore")
  for (const path of now.untracked)
    if (!Object.hasOwn(base.files, path)) addNew(shadow, { path, base, found, rulesChanged })
  found.folders = madeFolders(shadow, base, found.files)
  return found
}

/** The hash of a file that nobody touched since is known. */
function look(shadow: Shadow, path: string, room: number): Seen {
  const stat = statAt(shadow.root, path)
  if (!stat) return { state: null }
  const stamp = stampOf(stat)
  const known = shadow.seen.get(path)
  if (known?.stamp === stamp) return known
  const state = stateOf(shadow.root, path, { store: shadow.store, keep: true, maxBytes: room })
  const seen = { state, stamp }
  const isSettled = Number(stat.ctimeNs / 1_000_000n) < Date.now() - tick
  if (state?.hash && isSettled) shadow.seen.set(path, seen)
  return seen
}

function stateNow(shadow: Shadow, path: string): State {
  return stateOf(shadow.root, path, { store: shadow.store, keep: false, maxBytes })
}

function addKnown(shadow: Shadow, options: { path: string; seen: Seen; base: Base; found: Found }): void {
  const { path, seen, base, found } = options
  const stat = statAt(shadow.root, path)
  const isYoung = stat !== undefined && Number(stat.ctimeNs / 1_000_000n) >= base.started - tick
  if (!stat && !seen.state) return
  if (stat && stampOf(stat) === seen.stamp && !(isYoung && seen.state?.hash)) return
  const state = stateNow(shadow, path)
  if (isSame(seen.state, state)) return
  if (seen.state?.kind === "file" && !seen.state.hash)
    found.uncovered.push({ path, reason: "it was too large to keep, or could not be read" })
  else found.files.push({ path, before: seen.state, after: state })
}

function newlyModified(modified: Map<string, Entry>, base: Base): Map<string, Entry> {
  return new Map([...modified].filter(([path]) => !Object.hasOwn(base.files, path)))
}

async function addClean(
  shadow: Shadow,
  options: { base: Base; entries: Map<string, Entry>; found: Found },
): Promise<void> {
  const { base, entries, found } = options
  if (!entries.size || !base.index) return
  const states = await cleanStates({ shadow, index: base.index, entries, maxBytes: maxFileBytes })
  for (const [path, state] of states) {
    if (state instanceof NamedError) {
      if (wasTouched(shadow, path, base)) found.uncovered.push({ path, reason: state.message })
      continue
    }
    const after = stateNow(shadow, path)
    if (!isSame(state, after)) found.files.push({ path, before: state, after })
  }
}

/** A file that was ignored until the rules changed is not a new one, and is nobody's to remove. */
function addNew(
  shadow: Shadow,
  options: { path: string; base: Base; found: Found; rulesChanged: boolean },
): void {
  const { path, base, found, rulesChanged } = options
  const stat = statAt(shadow.root, path)
  if (!stat || !wasTouched(shadow, path, base)) return
  const isYoung = Number(stat.birthtimeNs / 1_000_000n) >= base.started - tick
  if (rulesChanged && !isYoung)
    return void found.uncovered.push({ path, reason: "it was ignored by git before" })
  found.files.push({ path, before: null, after: stateNow(shadow, path) })
}

function wasTouched(shadow: Shadow, path: string, { started }: Base): boolean {
  const stat = statAt(shadow.root, path)
  return !stat || Number(stat.ctimeNs / 1_000_000n) >= started - tick
}

/** Folders of new files that are themselves new. */
function madeFolders({ root }: Shadow, { started }: Base, files: Change[]): string[] {
  const made = new Map<string, boolean>()
  for (const { path, before } of files)
    if (!before)
      for (let folder = dirname(path); folder !== "." && !made.has(folder); folder = dirname(folder)) {
        const stat = statAt(root, folder)
        const born = stat ? Number(stat.birthtimeNs / 1_000_000n) : 0
        made.set(folder, born >= started - tick && join(root, folder) !== root)
      }
  return [...made].flatMap(([folder, isNew]) => (isNew ? [folder] : []))
}
