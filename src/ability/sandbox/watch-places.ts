// Notices when a protected or hidden path is replaced from outside, as `git config` and editors do. The kernel then drops the
// mount over it inside, and with it the protection.
import { watch } from "node:fs"
import { basename, dirname } from "node:path"
import { statOf } from "#util/file/path-info.ts"

/** What each path is, so that another file of the same name can be told from it. */
export type Stamps = ReadonlyMap<string, string>

/** Milliseconds between two looks, if the system has no watches left. */
const pause = 100

export function stampsOf(paths: readonly string[]): Stamps {
  return new Map(paths.map((path) => [path, stampOf(path)]))
}

/** Calls `replaced` once. */
export function watchPlaces(stamps: Stamps, replaced: (path: string) => void): () => void {
  const names = new Set(stamps.keys().map((path) => basename(path)))
  const stops: (() => void)[] = []
  const stop = () => {
    for (const one of stops.splice(0)) one()
  }
  const look = () => {
    const found = stamps.entries().find(([path, stamp]) => stampOf(path) !== stamp)
    if (!found) return
    stop()
    replaced(found[0])
  }
  const watchFolder = (folder: string) => {
    const watcher = watch(folder, { persistent: false }, (_, name) => {
      if (name === null || names.has(name)) look()
    })
    watcher.on("error", look)
    stops.push(() => watcher.close())
  }
  try {
    for (const folder of new Set(stamps.keys().map((path) => dirname(path)))) watchFolder(folder)
  } catch {
    const timer = setInterval(look, pause).unref()
    stops.push(() => clearInterval(timer))
  }
  // Since the stamps were taken.
  look()
  return stop
}

/** A number of a file can be used again for the next one; the time of its creation cannot. */
function stampOf(path: string): string {
  const stat = statOf(path)
  return stat ? `${stat.ino} ${stat.birthtimeMs}` : ""
}
