// A plan carried out: every path is replaced by a rename or removed, through folders that were opened one by one and are
// no links. Any step may be the last one before a crash; doing all of it again ends in the same state.
import {
  closeSync,
  constants,
  fchmodSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs"
import { basename, dirname, join } from "node:path"
import { errorCode } from "#util/error.ts"
import { atThisMoment, Conflict, NotReverted } from "./errors.ts"
import { isSame, type State } from "./part.ts"
import type { Action, Plan } from "./plan.ts"
import type { Shadow } from "./shadow.ts"
import { stateOf } from "./state-of.ts"

type Folder = { fd: number; path: string }

const maxBytes = 100_000_000
const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW

/** `name` is that of the file that is written aside, so that what a crash left is found again. */
export async function apply(shadow: Shadow, { actions, folders }: Plan, name: string): Promise<void> {
  const { root } = shadow
  for (const folder of new Set(actions.map(({ path }) => dirname(path)))) removeAside(root, folder, name)
  const deepestFirst = [...actions].sort((a, b) => depth(b.path) - depth(a.path))
  for (const action of deepestFirst)
    if (isInTheWay(action)) step(shadow, action, () => remove(root, action.path))
  for (const folder of [...folders].sort((a, b) => depth(b) - depth(a))) removeFolder(root, folder)
  for (const action of actions)
    if (action.to) {
      const bytes = await shadow.store.read(action.to.hash!)
      step(shadow, action, () => write({ root, action, bytes, name }))
    }
}

/** What is neither as it was found nor as it shall be was changed by somebody at this moment. */
function step(shadow: Shadow, { path, from, to }: Action, work: () => void): void {
  const now = stateOf(shadow.root, path, { store: shadow.store, keep: false, maxBytes })
  if (isSame(now, to)) return
  const isOnItsWay = now === null && to !== null
  if (!isSame(now, from) && !isOnItsWay) throw new Conflict([{ path, reason: atThisMoment }])
  try {
    work()
  } catch (error) {
    throw errorCode(error) === undefined ? error : new NotReverted(path, error)
  }
}

/** A rename takes the place of a file or a link, but not of a folder. */
function isInTheWay({ from, to }: Action): boolean {
  return to === null || from?.kind === "folder"
}

function write(options: { root: string; action: Action; bytes: Buffer; name: string }): void {
  const { root, action, bytes, name } = options
  const to = action.to!
  const folder = openFolder(root, dirname(action.path), true)!
  try {
    const aside = within(folder, name)
    if (to.kind === "link") symlinkSync(bytes, aside)
    else writeFile(aside, bytes, modeFor(action.from, to))
    renameSync(aside, within(folder, basename(action.path)))
  } finally {
    closeSync(folder.fd)
  }
}

function writeFile(path: string, bytes: Buffer, mode: number | undefined): void {
  const fd = openSync(path, "wx", mode === undefined ? 0o666 : 0o600)
  try {
    writeFileSync(fd, bytes)
    if (mode !== undefined) fchmodSync(fd, mode)
  } finally {
    closeSync(fd)
  }
}

/** Git knows only whether a file is a program: the rest is as it is now, or as a new file gets it. */
function modeFor(from: State, to: NonNullable<State>): number | undefined {
  if (to.exact !== false) return to.mode
  const isProgram = (to.mode & 0o100) !== 0
  if (from?.kind === "file") {
    const base = from.mode & ~0o111
    return isProgram ? base | ((base & 0o444) >> 2) : base
  }
  return isProgram ? 0o777 & ~process.umask() : undefined
}

function remove(root: string, path: string): void {
  const folder = openFolder(root, dirname(path), false)
  if (!folder) return
  try {
    unlinkOrRmdir(within(folder, basename(path)))
  } finally {
    closeSync(folder.fd)
  }
}

function unlinkOrRmdir(path: string): void {
  try {
    unlinkSync(path)
  } catch (error) {
    const code = errorCode(error)
    if (code === "ENOENT") return
    if (code !== "EISDIR" && code !== "EPERM") throw error
    removeEmptyTree(path)
  }
}

/** Only folders: what else is in it stays, and stops this. */
function removeEmptyTree(path: string): void {
  for (const entry of readdirSync(path, { withFileTypes: true }))
    if (entry.isDirectory()) removeEmptyTree(join(path, entry.name))
  rmdirSync(path)
}

function removeFolder(root: string, path: string): void {
  const folder = openFolder(root, dirname(path), false)
  if (!folder) return
  try {
    rmdirSync(within(folder, basename(path)))
  } catch (error) {
    if (!["ENOENT", "ENOTEMPTY", "ENOTDIR", "EEXIST"].includes(errorCode(error) ?? "")) throw error
  } finally {
    closeSync(folder.fd)
  }
}

function removeAside(root: string, path: string, name: string): void {
  const folder = openFolder(root, path, false)
  if (!folder) return
  try {
    unlinkSync(within(folder, name))
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error
  } finally {
    closeSync(folder.fd)
  }
}

/** Name by name from the root, never through a link. Undefined where it is not there and not to be made. */
function openFolder(root: string, path: string, make: boolean): Folder | undefined {
  let folder: Folder = { fd: openSync(root, flags), path: root }
  for (const name of path === "." ? [] : path.split("/")) {
    const next = openNext(folder, name, make)
    closeSync(folder.fd)
    if (!next) return undefined
    folder = next
  }
  return folder
}

function openNext(folder: Folder, name: string, make: boolean): Folder | undefined {
  const place = within(folder, name)
  try {
    if (make) makeFolder(place)
    return { fd: openSync(place, flags), path: join(folder.path, name) }
  } catch (error) {
    const code = errorCode(error)
    if (!make && (code === "ENOENT" || code === "ENOTDIR" || code === "ELOOP")) return undefined
    closeSync(folder.fd)
    if (code === "ENOTDIR" || code === "ELOOP")
      throw new Conflict([{ path: join(folder.path, name), reason: "it has to be a folder, and is none" }])
    throw error
  }
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path)
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error
  }
}

/** Where the system can, a path that leads to the open folder whatever happens to its names. */
function within({ fd, path }: Folder, name: string): string {
  return join(process.platform === "linux" ? `/proc/self/fd/${fd}` : path, name)
}

function depth(path: string): number {
  return path.split("/").length
}
