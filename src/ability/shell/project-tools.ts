// Programs that a project brings along: in `node_modules/.bin` or a virtual environment, from the folder of a file up to the
// work tree. If there is none, those on PATH count.
import { closeSync, existsSync, openSync, readSync, realpathSync } from "node:fs"
import { dirname, join } from "node:path"
import type { Context } from "#ability/call/types.ts"
import { Instance } from "#kernel/instance.ts"
import { findProgram } from "#kernel/process/find-program.ts"
import { ownCommand } from "#util/own-command.ts"

const places = ["node_modules/.bin", ".venv/bin", "venv/bin"]

/** `isTold`: the person knows why no program of the project starts. */
const told = Instance.state(() => ({ isTold: false }))

/** Tells the person once, whichever session, language or program it is about. */
export function tellUntrusted({ notice }: Pick<Context, "notice">): void {
  if (told().isTold || !notice) return
  told().isTold = true
  notice(`edits are not checked or formatted until you trust this folder: ${ownCommand} trust`)
}

/** From the folder of a file up to the work tree. */
export function foldersAbove(path: string): string[] {
  const folders: string[] = []
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    folders.push(folder)
    if (folder === Instance.worktree || dirname(folder) === folder) return folders
  }
}

/** The command of the first of these programs; undefined if there is none. */
export function find(folders: readonly string[], names: readonly string[]): string[] | undefined {
  for (const name of names)
    for (const folder of folders)
      for (const place of places) {
        const file = join(folder, place, name)
        if (existsSync(file)) return commandFor(file)
      }
  const file = findProgram([...names])
  return file === undefined ? undefined : commandFor(file)
}

/** Scripts of Node run with our Node: there may be no other. */
function commandFor(file: string): string[] {
  const real = realpathSync(file)
  return /\.[cm]?js$/.test(real) || /^#!.*\bnode\b/.test(startOf(real)) ? [process.execPath, real] : [file]
}

function startOf(file: string): string {
  const fd = openSync(file, "r")
  try {
    const bytes = Buffer.alloc(100)
    return bytes.toString("latin1", 0, readSync(fd, bytes, 0, bytes.length, 0)).split("\n")[0]!
  } finally {
    closeSync(fd)
  }
}
