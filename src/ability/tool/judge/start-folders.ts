// Where the relative paths of a command may start: its own folder, and each folder that it changes to.
import { resolve } from "node:path"
import * as Permission from "#ability/permission/permission.ts"

const moves = new Set(["cd", "pushd", "-C", "--chdir", "--directory"])
const maxFolders = 10

export function startFolders(command: string, cwd: string): string[] {
  const words = Permission.pathsIn(command)
  const folders = new Set([cwd])
  let here = cwd
  for (const [i, word] of words.entries()) {
    if (!moves.has(words[i - 1] ?? "") || folders.size >= maxFolders) continue
    here = resolve(here, word)
    // `cd` in parentheses does not affect the rest.
    folders.add(here).add(resolve(cwd, word))
  }
  return [...folders]
}
