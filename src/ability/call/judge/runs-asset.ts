// Tells whether a command runs a file from the `assets` folder of a skill. Assets are data that a skill brings along:
// templates, pictures, tables. Nobody reviews them as code.
import { homedir } from "node:os"
import { relative, resolve } from "node:path"
import * as Permission from "#ability/permission/permission.ts"
import { skillPlaces } from "#ability/skill/skill-places.ts"
import * as Config from "#kernel/config/config.ts"
import { realOf } from "#util/file/path-info.ts"

/** Programs that run the file of their first argument. */
const runners = new Set(
  "node bun deno tsx python python3 bash sh dash zsh ksh ruby perl php source . exec".split(" "),
)

/** `folders`: where relative paths of the command may start. */
export async function runsAsset(command: string, folders: readonly string[]): Promise<boolean> {
  // Most commands have nothing to do with assets.
  if (![command, ...folders].some((text) => text.includes("assets"))) return false
  const places = skillPlaces((await Config.get()).skills?.root).map(({ folder }) => folder)
  const isAsset = (path: string) =>
    [path, realOf(path) ?? path].some((one) =>
      places.some((folder) => isBelowAssets(folder, one) || isBelowAssets(realOf(folder) ?? folder, one)),
    )
  return (Permission.commandsIn(command) ?? []).some(({ words }) =>
    filesRun(words.map(({ text }) => text)).some((file) =>
      folders.some((folder) => isAsset(resolve(folder, file.replace(/^~(?=\/)/, homedir())))),
    ),
  )
}

function filesRun([program = "", ...args]: string[]): string[] {
  const name = program.slice(program.lastIndexOf("/") + 1)
  const file = runners.has(name) ? args.find((word) => !word.startsWith("-")) : undefined
  return [...(program.includes("/") ? [program] : []), ...(file === undefined ? [] : [file])]
}

/** A place is a folder of skills, or a skill itself. */
function isBelowAssets(place: string, path: string): boolean {
  const [first, second] = relative(place, path).split("/")
  return first !== ".." && (first === "assets" || second === "assets")
}
