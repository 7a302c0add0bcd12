// Where skills are looked for, the nearest first: the folder that is worked in and those above it up to the work tree's,
// then the person's own. To see whether there are any costs a handful of looks, and nothing is loaded for it.
import { existsSync } from "node:fs"
import { homedir } from "node:os"
import { dirname, isAbsolute, join, resolve } from "node:path"
import * as Global from "#kernel/global.ts"
import { Instance } from "#kernel/instance.ts"

/** `root`: where its files must really be. The person's own may be anywhere. */
export type SkillPlace = { folder: string; root?: string; isOwn: boolean }

const hidden = [".vitamin/skills", ".plaited/skills", ".agents/skills", ".claude/skills"]
const maxLevels = 8

/** `configured` is what the configuration calls the folder of skills. */
export function skillPlaces(configured: string | undefined): SkillPlace[] {
  const { directory, worktree } = Instance
  const inProject = levels(directory, worktree).flatMap((level) => {
    const names =
      level === worktree ? [...named(configured), ".vitamin/skills", "skills", ...hidden.slice(1)] : hidden
    return names.map((name) => ({ folder: resolve(level, name), root: worktree, isOwn: false }))
  })
  const all = [...inProject, ...ownPlaces().map((folder) => ({ folder, isOwn: true }))]
  return all.filter(({ folder }, i) => all.findIndex((other) => other.folder === folder) === i)
}

/** The person's. */
export function ownPlaces(): string[] {
  return [join(Global.config(), "skills"), ...inHome(".agents/skills"), ...inHome(".claude/skills")]
}

/** Whether there may be skills at all. */
export function hasSkills(configured: string | undefined): boolean {
  // What is not there is the usual case, and an error for each would take long.
  return skillPlaces(configured).some(({ folder }) => existsSync(folder))
}

function named(configured: string | undefined): string[] {
  return configured === undefined ? [] : [configured]
}

/** From the folder that is worked in up to the top of the work tree. */
function levels(directory: string, worktree: string): string[] {
  const found = [directory]
  for (let at = directory; at !== worktree && found.length < maxLevels; found.push(at)) {
    if (dirname(at) === at) return [worktree]
    at = dirname(at)
  }
  return found.includes(worktree) ? found : [...found, worktree]
}

function inHome(name: string): string[] {
  return isAbsolute(homedir()) ? [join(homedir(), name)] : []
}
