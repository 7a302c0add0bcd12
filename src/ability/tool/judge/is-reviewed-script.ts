// Whether a script of a skill, with everything that it imports from the project, is as a person has reviewed it.

import { Instance } from "#kernel/instance.ts"
import { maxProgram } from "#kernel/reviewed/places.ts"
import { withImports } from "#kernel/reviewed/project-code.ts"
import * as Reviewed from "#kernel/reviewed/reviewed.ts"
import { readSmallFile } from "#kernel/schema/read-file.ts"
import { realOf } from "#util/file/real-of.ts"

/** A script that does not exist is not reviewed. */
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
