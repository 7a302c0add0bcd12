// Tells whether a file is a script of a skill, and whether a person has reviewed it as it is now.
import { relative, resolve } from "node:path"
import * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import { maxProgram } from "#kernel/reviewed/places.ts"
import { withImports } from "#kernel/reviewed/project-code.ts"
import * as Reviewed from "#kernel/reviewed/reviewed.ts"
import { readSmallFile } from "#kernel/schema/read-file.ts"
import { realOf } from "#util/file/path-info.ts"
import { isInside } from "#util/file/resolve-inside.ts"

/** True if a real path is a script in the skill folder of the configuration. The rules protect scripts in the default
 * folders by their paths. */
export async function isSkillScript(path: string): Promise<boolean> {
  const root = (await Config.get()).skills?.root
  if (root === undefined) return false
  const named = resolve(Instance.worktree, root)
  const folder = realOf(named) ?? named
  if (!isInside(folder, path)) return false
  return relative(folder, path).split("/").slice(0, 2).includes("scripts")
}

/** Whether a script and everything that it imports from the project are reviewed. A missing script is not. */
export async function isReviewedScript(path: string): Promise<boolean> {
  const reviewed = await Reviewed.of(Instance.worktree)
  if (!reviewed.isTrusted) return false
  for (const file of withImports(path, reviewed.root)) {
    const bytes = await readSmallFile(file, undefined, maxProgram).catch(() => undefined)
    // A folder of skills may be a link to another one; the file was reviewed under either name.
    const names = [file, realOf(file) ?? file]
    if (!bytes || names.every((name) => reviewed.refusal(name, bytes) !== undefined)) return false
  }
  return true
}
