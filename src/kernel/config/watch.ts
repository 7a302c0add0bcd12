// Reports changes that a configuration depends on. Files: new content, also when a file or its folder appears later, when
// an editor replaces it, and when it is removed; if the system has no watches left, they are polled. Trust in the work
// tree, which a person gives and takes back in another process: its record is polled.
import { createHash } from "node:crypto"
import { type FSWatcher, readlinkSync, unwatchFile, watch, watchFile } from "node:fs"
import { basename, dirname, isAbsolute, join, parse, sep } from "node:path"
import * as Log from "#kernel/process/log.ts"
import * as Reviewed from "#kernel/reviewed/reviewed.ts"
import { readSmallFile } from "#kernel/schema/read-file.ts"
import { errorCode, errorText } from "#util/error.ts"
import { statOf } from "#util/file/path-info.ts"

type Watched = { watcher: FSWatcher; inode: number | undefined; names: Set<string> }

/** Milliseconds: from an event to reading the files, and between two polls. */
const settle = 50
const pollFiles = 1000
const pollTrust = 1500
// Linux follows as many links in a path.
const maxLinks = 40

/** Calls `onChange` after a change; never keeps the process alive. Resolves to a function that stops it. */
export async function watchFiles(paths: string[], onChange: () => void): Promise<() => void> {
  let timer: NodeJS.Timeout | undefined
  let stopped = false
  let known: string | undefined
  const folders = createFolderWatch({ paths, onEvent: schedule, onExhausted: poll })
  folders.arm()
  known = await fingerprint(paths)
  return () => {
    stopped = true
    clearTimeout(timer)
    folders.close()
    for (const path of paths) unwatchFile(path, schedule)
  }

  function schedule() {
    if (stopped) return
    clearTimeout(timer)
    timer = setTimeout(compare, settle)
    timer.unref()
  }

  async function compare() {
    folders.arm()
    const now = await fingerprint(paths)
    if (stopped || now === known) return
    known = now
    onChange()
  }

  function poll() {
    Log.info("no file watches are left; configuration files are polled")
    for (const path of paths) watchFile(path, { persistent: false, interval: pollFiles }, schedule)
  }
}

/** Like `watchFiles`. The function that stops it waits for a read that is under way, so that Storage can be closed after
 * it. */
export async function watchTrust(worktree: string, onChange: () => void): Promise<() => Promise<void>> {
  let stopped = false
  let polling: Promise<void> | undefined
  let known = await stamp()
  let timer = schedule()
  return async () => {
    stopped = true
    clearTimeout(timer)
    await polling
  }

  function schedule() {
    return setTimeout(() => {
      polling = poll()
    }, pollTrust).unref()
  }

  async function poll() {
    const now = await stamp()
    if (stopped) return
    timer = schedule()
    if (now === known) return
    known = now
    onChange()
  }

  /** A work tree that is gone has no trust. */
  async function stamp() {
    const reviewed = await Reviewed.of(worktree).catch(() => undefined)
    return reviewed?.stamp
  }
}

async function fingerprint(paths: string[]): Promise<string> {
  const hash = createHash("sha256")
  for (const path of paths) {
    const content = await readSmallFile(path).catch((error) => `error: ${errorText(error)}`)
    hash.update(content === undefined ? "missing" : `${content.length}:`).update(content ?? "")
  }
  return hash.digest("hex")
}

/** Watches on the nearest existing folders of some files. Folders, because a watch on a file ends when an editor replaces
 * the file; the nearest existing ones, because a file may come with its folder later; and those of every link in the
 * path, because a link may be replaced. `arm` sets the watches that are needed now. If the system has none left, it
 * closes for good and calls `onExhausted`. */
function createFolderWatch(options: { paths: string[]; onEvent: () => void; onExhausted: () => void }) {
  const { paths, onEvent, onExhausted } = options
  const folders = new Map<string, Watched>()
  let closed = false
  return Object.freeze({ arm, close })

  function arm() {
    // A folder may appear between looking for it and watching its parent; the second round sees it.
    for (let round = 0; round < 2; round++) {
      const wanted = wantedFolders(paths)
      for (const [folder, { inode }] of folders)
        if (!wanted.has(folder) || statOf(folder)?.ino !== inode) drop(folder)
      for (const [folder, names] of wanted) if (!closed) open(folder, names)
    }
  }

  function close() {
    closed = true
    for (const folder of folders.keys()) drop(folder)
  }

  function open(folder: string, names: Set<string>) {
    const existing = folders.get(folder)
    if (existing) {
      existing.names = names
      return
    }
    try {
      const watcher = watch(folder, { persistent: false })
      const watched: Watched = { watcher, inode: statOf(folder)?.ino, names }
      folders.set(folder, watched)
      watcher.on("change", (_, name) => (name === null || watched.names.has(String(name))) && onEvent())
      watcher.on("error", (error) => failed(folder, error))
    } catch (error) {
      failed(folder, error)
    }
  }

  function failed(folder: string, error: unknown) {
    if (closed) return
    drop(folder)
    if (!["ENOSPC", "EMFILE", "ENFILE"].includes(errorCode(error) ?? ""))
      return Log.warn("a folder cannot be watched", { folder, error: errorText(error) })
    close()
    onExhausted()
  }

  function drop(folder: string) {
    folders.get(folder)?.watcher.close()
    folders.delete(folder)
  }
}

/** The nearest existing folder of each place, with the names in it that matter. */
function wantedFolders(paths: string[]): Map<string, Set<string>> {
  const wanted = new Map<string, Set<string>>()
  for (let name of new Set(paths.flatMap(placesOf))) {
    while (!statOf(dirname(name))?.isDirectory() && dirname(name) !== name) name = dirname(name)
    const folder = dirname(name)
    // Its own name is what a watch reports when the folder itself goes away.
    const names = wanted.get(folder) ?? new Set([basename(folder)])
    wanted.set(folder, names.add(basename(name)))
  }
  return wanted
}

/** The real place of a file, whether it is there or not, and of every link that leads to it. */
function placesOf(path: string): string[] {
  const links: string[] = []
  let at = parse(path).root
  const steps = stepsOf(path)
  for (let step = steps.shift(); step !== undefined; step = steps.shift()) {
    const next = join(at, step)
    const target = linkAt(next)
    if (target === undefined) at = next
    else {
      if (links.length === maxLinks) return links
      links.push(next)
      if (isAbsolute(target)) at = parse(target).root
      steps.unshift(...stepsOf(target))
    }
  }
  return [...links, at]
}

function stepsOf(path: string): string[] {
  return path
    .slice(parse(path).root.length)
    .split(sep)
    .filter((step) => step !== "" && step !== ".")
}

function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}
