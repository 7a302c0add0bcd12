// Finds the project that a folder belongs to. The id is computed once and then stored for the git directory, so that a first
// commit, a deeper clone or merged histories do not hide earlier sessions.
import { realpathSync } from "node:fs"
import { basename, dirname } from "node:path"
import * as Log from "#kernel/process/log.ts"
import { hashText } from "#util/hash-text.ts"
import * as Storage from "./storage/storage.ts"
import * as Vcs from "./vcs.ts"

type Remembered = { id: string; gitDir: string; place?: string }

/** `place`: the name on all machines of a checkout that vitamin made (ability/checkout). */
export type SpaceInfo = { id: string; name: string; worktree: string; vcs?: Vcs.Info; place?: string }

/** The project of a folder, from anywhere inside it. */
export async function detect(directory: string): Promise<SpaceInfo> {
  const folder = realpathSync.native(directory)
  const repository = Vcs.find(folder)
  if (!repository) return { id: hash(folder), name: basename(folder) || folder, worktree: folder }
  const vcs = await Vcs.read(repository)
  const key = ["space", hash(repository.commonDir)]
  const known = await Storage.read<Remembered>(key).catch(() => undefined)
  const id = known?.id || (await newId(key, repository, vcs))
  const place = known?.place === undefined ? {} : { place: known.place }
  return { id, name: basename(repository.worktree), worktree: repository.worktree, vcs, ...place }
}

/** Makes the repository of a folder a checkout of a project. */
export async function assign(directory: string, as: { id: string; place: string }): Promise<void> {
  const repository = Vcs.find(directory)!
  await Storage.write(["space", hash(repository.commonDir)], { ...as, gitDir: repository.commonDir })
}

async function newId(key: string[], repository: Vcs.Repository, vcs: Vcs.Info): Promise<string> {
  const root = await rootCommit(repository)
  const id = root ?? hash(homeOf(repository))
  // There are commits, but git could not read them: the id is used now, but not stored.
  if (!root && vcs.commit) return id
  try {
    const kept = await Storage.update<Remembered>(key, (draft) => keepFirst(draft, id), {
      initial: { gitDir: repository.commonDir },
    })
    return kept.id
  } catch (error) {
    Log.warn("the id of this project could not be stored", { error })
    return id
  }
}

/** The folder of a repository. Its path gives the same id as before the folder became a repository. */
function homeOf({ commonDir }: Vcs.Repository): string {
  return basename(commonDir) === ".git" ? dirname(commonDir) : commonDir
}

function keepFirst(draft: Remembered, id: string) {
  draft.id ??= id
}

/** The smallest root commit that HEAD reaches, or undefined before the first commit. */
async function rootCommit(repository: Vcs.Repository): Promise<string | undefined> {
  const roots = await Vcs.git(repository.worktree, ["rev-list", "--max-parents=0", "HEAD"]).catch(() => "")
  return roots.split("\n").filter(Boolean).sort()[0]
}

function hash(path: string): string {
  return hashText(path).slice(0, 40)
}
