// Watches on the nearest existing folders of some files. Folders, since a watch on a file ends when an editor replaces
// the file; the nearest existing ones, since a file may come with its folder later.
import { type FSWatcher, realpathSync, type Stats, statSync, watch } from "node:fs"
import { basename, dirname } from "node:path"
import * as Log from "#kernel/log.ts"
import { errorCode, errorText } from "#util/error.ts"

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

/** The nearest existing folder of each file, and of what it links to, with the names in it that matter. */
function wantedFolders(paths: string[]): Map<string, Set<string>> {
  const wanted = new Map<string, Set<string>>()
  for (let name of new Set(paths.flatMap((path) => [path, realPath(path)]))) {
    while (!statOf(dirname(name))?.isDirectory() && dirname(name) !== name) name = dirname(name)
    const folder = dirname(name)
    // Its own name is what a watch reports when the folder itself goes away.
    const names = wanted.get(folder) ?? new Set([basename(folder)])
    wanted.set(folder, names.add(basename(name)))
  }
  return wanted
}

function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path)
  } catch {
    return undefined
  }
}
