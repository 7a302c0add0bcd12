// Whether a command reaches what decides what runs by another name: through a link, or from a folder inside of it. What
// it plainly names is known to the rules already.
import { realpathSync } from "node:fs"
import { dirname, resolve } from "node:path"
import * as Permission from "#ability/permission/permission.ts"
import { readPath } from "#util/wildcard.ts"
import * as KeptFolder from "./shell/kept-folder.ts"

/** A command with more words than this is not looked at word by word. */
const maxPaths = 1_000

export function changesWhatRuns(command: string, sessionId: string): boolean {
  const { cwd } = KeptFolder.get(sessionId)
  const paths = new Set(Permission.pathsIn(command).slice(0, maxPaths))
  const isOurs = [".", ...paths].some((path) => {
    const real = realOf(resolve(cwd, path))
    return real !== undefined && Permission.isOwnConfiguration(readPath(real))
  })
  return isOurs && !Permission.onlyLooks(command)
}

/** Where it is, or would be made. */
function realOf(path: string): string | undefined {
  try {
    return realpathSync.native(path)
  } catch {
    return dirname(path) === path ? undefined : parentOf(path)
  }
}

function parentOf(path: string): string | undefined {
  try {
    return realpathSync.native(dirname(path))
  } catch {
    return undefined
  }
}
