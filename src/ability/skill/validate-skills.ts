// Validates skills strictly against the specification: what loading only warns about is an error here.
import { resolve } from "node:path"
import * as Config from "#kernel/config/config.ts"
import { type FoundSkills, scanSkillFile, scanSkills } from "#knowledge/skill/scan-skills.ts"
import type { SkillProblem } from "#knowledge/skill/skill-types.ts"
import { NamedError } from "#util/error.ts"
import { statOf } from "#util/file/path-info.ts"
import { skillPlaces } from "./skill-places.ts"

export type Verdict = { file: string; name?: string; isValid: boolean; problems: SkillProblem[] }

class NothingThere extends NamedError {
  constructor(path: string, what: string) {
    super("Skill.NothingThere", `${JSON.stringify(path)} ${what}`, { path })
  }
}

/** Validates a file, a skill's folder or a folder of skills; default: all places of the current instance. */
export async function validateSkills(path?: string): Promise<Verdict[]> {
  if (path === undefined) {
    const places = skillPlaces((await Config.get()).skills?.root)
    return places.flatMap(({ folder, root }) => verdictsOf(scanSkills(folder, { root })))
  }
  const target = resolve(path)
  const stat = statOf(target)
  if (!stat) throw new NothingThere(path, "does not exist")
  const verdicts = verdictsOf(stat.isDirectory() ? scanSkills(target) : scanSkillFile(target))
  if (!verdicts.length)
    throw new NothingThere(path, "has no skill: NAME/SKILL.md, or NAME.md that begins with front matter")
  return verdicts
}

function verdictsOf({ skills, unusable }: FoundSkills): Verdict[] {
  return [
    ...skills.map(({ file, name, problems }) => ({
      file,
      name,
      isValid: problems.every(isAdvice),
      problems,
    })),
    ...unusable.map(({ file, problems }) => ({ file, isValid: false, problems })),
  ]
}

function isAdvice({ level }: SkillProblem): boolean {
  return level === "warning"
}
