// Which folders may bring code and settings that decide what runs. Trust is given by a person, per work tree, and
// kept in Storage; a folder that was never trusted is only data.
import { createHash } from "node:crypto"
import { realpathSync } from "node:fs"
import { NamedError } from "#util/error.ts"
import { statOf } from "#util/stat-of.ts"
import * as Storage from "./storage/storage.ts"
import * as Vcs from "./vcs.ts"

export type Grant = { directory: string; time: number }

/** Trust was asked about, given to or taken from something that is no folder. */
export class InvalidDirectory extends NamedError {
  declare readonly data: { directory: string }

  constructor(directory: string) {
    const what = statOf(directory) ? "is not a directory" : "does not exist or cannot be reached"
    super("Trust.InvalidDirectory", `"${directory}" ${what}; trust belongs to an existing directory`, {
      directory,
    })
  }
}

const forThisProcess = new Set<string>()

/** Whether the work tree of a folder is trusted. */
export async function check(directory: string): Promise<boolean> {
  const root = rootOf(directory)
  if (forThisProcess.has(root)) return true
  const grant = await Storage.read<Grant>(keyOf(root)).catch(() => undefined)
  return grant?.directory === root
}

/** Trust the work tree of a folder: kept by default, or for this process only. Gives the folder that is trusted now. */
export async function grant(directory: string, options: { keep?: boolean } = {}): Promise<string> {
  const root = rootOf(directory)
  if (options.keep === false) forThisProcess.add(root)
  else await Storage.write(keyOf(root), { directory: root, time: Date.now() } satisfies Grant)
  return root
}

/** Take trust back. */
export async function remove(directory: string): Promise<string> {
  const root = rootOf(directory)
  forThisProcess.delete(root)
  await Storage.remove(keyOf(root))
  return root
}

export async function list(): Promise<Grant[]> {
  const keys = await Storage.list(["trust"])
  const grants = await Promise.all(
    keys.map((name) => Storage.read<Grant>(["trust", name]).catch(() => undefined)),
  )
  return grants.filter((grant) => grant?.directory !== undefined) as Grant[]
}

function rootOf(directory: string): string {
  if (!statOf(directory)?.isDirectory()) throw new InvalidDirectory(directory)
  const folder = realpathSync(directory)
  return Vcs.find(folder)?.worktree ?? folder
}

function keyOf(root: string): string[] {
  return ["trust", createHash("sha256").update(root).digest("hex").slice(0, 40)]
}
