// The documents of a folder, listed again only if one of its folders has changed since. Asking that takes a stat for each
// folder, a listing a process of ripgrep.
import { dirname, join } from "node:path"
import { listFiles } from "#knowledge/grounding/list-files.ts"
import { statOf } from "#util/file/path-info.ts"

export type Listing = { files: string[]; isCut: boolean }
type Known = Listing & { folders: Map<string, number>; time: number }

const maxFiles = 20_000
/** Milliseconds. A folder without files is not among the known ones, and an ignore file may have been edited. */
const maxAge = 30_000
/** A change in the same tick of the clock would not be seen. */
const settled = 100

export function createListing(options: {
  folder: string
  accepts(file: string): boolean
}): (signal?: AbortSignal) => Promise<Listing> {
  const { folder, accepts } = options
  let known: Known | undefined

  async function list(signal: AbortSignal | undefined): Promise<Known> {
    const time = Date.now()
    const names = new Set([""])
    const { names: files, total } = await listFiles({
      cwd: folder,
      limit: maxFiles,
      signal,
      accepts: (file) => {
        addFolders(names, file)
        return accepts(file)
      },
    })
    const folders = new Map([...names].map((name) => [name, stampOf(name, time)]))
    return { files, isCut: total > files.length, folders, time }
  }

  function stampOf(name: string, time: number): number {
    const changed = statOf(join(folder, name))?.mtimeMs ?? 0
    return time - changed < settled ? -1 : changed
  }

  function isFresh({ folders, time }: Known): boolean {
    if (Date.now() - time > maxAge) return false
    for (const [name, changed] of folders) if (statOf(join(folder, name))?.mtimeMs !== changed) return false
    return true
  }

  return async (signal) => {
    if (!known || !isFresh(known)) known = await list(signal)
    return known
  }
}

function addFolders(names: Set<string>, file: string): void {
  for (let at = dirname(file); at !== "." && !names.has(at); at = dirname(at)) names.add(at)
}
