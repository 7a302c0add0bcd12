// Watches on the nearest existing folders of some files. Folders, since a watch on a file ends when an editor replaces
// the file; the nearest existing ones, since a file may come with its folder later; and those of every link on the way,
// since a link may be swapped for another.
import { type FSWatcher, readlinkSync, watch } from "node:fs"
import { basename, dirname, isAbsolute, join, parse, sep } from "node:path"
import * as Log from "#kernel/process/log.ts"
import { errorCode, errorText } from "#util/error.ts"
import { statOf } from "#util/file/stat-of.ts"

// As many as the system itself follows.
const maxLinks = 40

type Watched = { watcher: FSWatcher; inode: number | undefined; names: Set<string> }

/** `arm` puts the watches where they belong now. Without watches left it closes for good and calls `onExhausted`. */
export function createFolderWatch(options: {
  paths: string[]
  onEvent: () => void
  onExhausted: () => void
}) {
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
