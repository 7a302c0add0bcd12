// Whether a command reaches the files of ours with keys and tokens by another name: from a folder near them, or through a
// link. What it plainly names is known to the rules already.
import * as Permission from "#ability/permission/permission.ts"
import * as KeptFolder from "#ability/tool/shell/kept-folder.ts"
import * as SecretFiles from "#kernel/process/secret-files.ts"
import { reachedPaths } from "./reached-paths.ts"
import { startFolders } from "./start-folders.ts"

/** A command with more words than this is not looked at word by word. */
const maxPaths = 1_000

export function reachesSecrets(command: string, sessionId: string): boolean {
  const folders = startFolders(command, KeptFolder.get(sessionId).cwd)
  const words = [".", ...Permission.pathsIn(command).slice(0, maxPaths)]
  const names = SecretFiles.places().flatMap(({ path }) => path.split("/"))
  for (const { target, real } of reachedPaths({ folders, words, telling: new Set(names) }))
    if (SecretFiles.isSecret(target) || SecretFiles.isSecret(real)) return true
  return false
}
