// Nested repositories that a program in a sandbox made or changed. Git runs what the configuration and the hooks of a repository
// name: at `git status` of the outer repository, if it was added there, and editors look for repositories by themselves. One that
// names programs is renamed, so that git does not see it.
import {
  closeSync,
  constants,
  type Dir,
  type Dirent,
  fstatSync,
  lstatSync,
  opendirSync,
  openSync,
  readFileSync,
  readlinkSync,
  renameSync,
} from "node:fs"
import { join } from "node:path"
import { setImmediate } from "node:timers/promises"
import { namesIn } from "#util/file/path-info.ts"
import { createId } from "#util/id.ts"

/** Folders that are looked through. The outer ones come first. */
const mostFolders = 50_000
/** Entries between two pauses, in which this process does its other work. */
const pauseAfter = 1_000
const mostBytes = 64_000
const deepest = 4

/** What `git init`, `git clone` and `git submodule` write. Everything else may name a program. */
const harmless = [
  "core.(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol)",
  "user.(name|email)",
  "remote.(url|fetch)",
  "branch.(remote|merge|rebase)",
  "submodule.(url|active)",
  "extensions.(objectformat|worktreeconfig)",
]
const known = new RegExp(`^(?:${harmless.join("|")})$`)
const section = /^\[\s*([a-z][a-z0-9.-]*)(?:\s+"(?:[^"\\]|\\.)*")?\s*\]$/i
const setting = /^([a-z][a-z0-9-]*)(?:\s*=\s*(.*))?$/i
/** Of a remote: a program as its transport, or an option for one. */
const runs = /^"?\s*(?:-|[\w+.-]+::)/

export type Disarmed = {
  /** The new paths of the repositories' `.git`. */
  renamed: string[]
  /** There were more folders than are looked through. */
  isPartial: boolean
}

/** Looks below the folders, whose own `.git` is protected. `since`: milliseconds, by the clock of the files. */
export async function disarmRepositories(folders: readonly string[], since: number): Promise<Disarmed> {
  const found: Disarmed = { renamed: [], isPartial: false }
  if (process.platform !== "linux") return found
  const waiting = [...folders]
  let [count, seen] = [0, 0]
  for (const folder of waiting) {
    if (++count > mostFolders) return { ...found, isPartial: true }
    for (const entry of entriesOf(folder)) {
      if (++seen % pauseAfter === 0) await setImmediate()
      const path = join(folder, entry.name)
      if (entry.name.toLowerCase() !== ".git") {
        if (entry.isDirectory() && waiting.length <= mostFolders) waiting.push(path)
      } else if (!folders.includes(folder) && isArmed(path, entry, since)) {
        const renamed = rename(folder, entry.name)
        if (renamed) found.renamed.push(renamed)
      }
    }
  }
  return found
}

/** One by one: a program may have made millions. Node's own iterator waits for a thread at every few of them. */
function* entriesOf(folder: string): Iterable<Dirent> {
  let open: Dir | undefined
  try {
    open = opendirSync(folder, { bufferSize: 256 })
    for (let entry = open.readSync(); entry; entry = open.readSync()) yield entry
  } catch {
    // It has gone, or is closed to this user.
  } finally {
    open?.closeSync()
  }
}

function isArmed(path: string, entry: Dirent, since: number): boolean {
  // A file or a link that leads to a repository elsewhere.
  return entry.isDirectory() ? runsPrograms(path, since) : isNew(path, since)
}

/** Whether a repository, or one of those in it, got a hook or a setting that may name a program. */
function runsPrograms(git: string, since: number, depth = 0): boolean {
  if (isNew(join(git, "commondir"), since)) return true
  const settings = ["config", "config.worktree"].map((name) => join(git, name))
  if (settings.some((file) => isNew(file, since) && !isHarmless(file))) return true
  const hooks = join(git, "hooks")
  const scripts = namesIn(hooks).filter((name) => !name.endsWith(".sample"))
  if (
    scripts.length &&
    [hooks, ...scripts.map((name) => join(hooks, name))].some((path) => isNew(path, since))
  )
    return true
  const inner = ["modules", "worktrees"].flatMap((name) =>
    namesIn(join(git, name)).map((one) => join(git, name, one)),
  )
  return depth < deepest && inner.some((one) => runsPrograms(one, since, depth + 1))
}

/** The kernel sets this time: a program cannot choose it. */
function isNew(path: string, since: number): boolean {
  try {
    return lstatSync(path).ctimeMs >= since
  } catch {
    return false
  }
}

function isHarmless(file: string): boolean {
  const text = textOf(file)
  if (text === undefined) return false
  let name = ""
  for (const line of text.split("\n").map((line) => line.trim())) {
    const begin = section.exec(line)
    if (begin) name = begin[1]!.toLowerCase()
    else if (line !== "" && !/^[#;]/.test(line)) {
      const [, key, value = ""] = setting.exec(line) ?? []
      if (!key || line.endsWith("\\") || !known.test(`${name}.${key.toLowerCase()}`) || runs.test(value))
        return false
    }
  }
  return true
}

/** Of a file of its own: a link would lead elsewhere, and reading a pipe would never end. */
function textOf(file: string): string | undefined {
  let fd: number | undefined
  try {
    fd = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    const stat = fstatSync(fd)
    return stat.isFile() && stat.size <= mostBytes ? readFileSync(fd, "utf8") : undefined
  } catch {
    return undefined
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}

/** In the folder that was looked at, which is held: a program that puts a link in its place meanwhile must not have a
 * repository elsewhere renamed. */
function rename(folder: string, name: string): string | undefined {
  let fd: number | undefined
  try {
    fd = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
    const held = `/proc/self/fd/${fd}`
    if (readlinkSync(held) !== folder) return undefined
    const other = `${name}-${createId("disarmed")}`
    renameSync(join(held, name), join(held, other))
    return join(folder, other)
  } catch {
    return undefined
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}
