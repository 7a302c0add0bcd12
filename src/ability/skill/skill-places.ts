// Lists the folders that may hold skills, nearest first: the working folder and its parents up to the work tree, then
// the person's own, and those of plugins. Checking for skills costs a few stat calls and loads nothing.
import { existsSync } from "node:fs"
import { homedir } from "node:os"
import { isAbsolute, join, resolve } from "node:path"
import { Instance } from "#kernel/instance.ts"
import { installed, type Plugin } from "#kernel/plugin/plugins.ts"
import * as Global from "#kernel/process/global.ts"
import { levels, skillFolders } from "#kernel/reviewed/places.ts"

/** `root`: the folder that must contain the real files; undefined for the person's own skills, which may be anywhere. */
export type SkillPlace = { folder: string; root?: string; isOwn: boolean; plugin?: Plugin }

/** `configured`: `skills.root` of the configuration. */
export function skillPlaces(configured: string | undefined): SkillPlace[] {
  const { directory, worktree } = Instance
  const inProject = levels(directory, worktree).flatMap((level) => {
    const names =
      level === worktree
        ? [...named(configured), skillFolders[0], "skills", ...skillFolders.slice(1)]
        : skillFolders
    return names.map((name) => ({ folder: resolve(level, name), root: worktree, isOwn: false }))
  })
  const plugins = installed().flatMap((plugin) =>
    plugin.parts.skills.map((path) => ({
      folder: resolve(plugin.root, path),
      root: plugin.root,
      isOwn: true,
      plugin,
    })),
  )
  const own = ownPlaces().map((folder) => ({ folder, isOwn: true }))
  const all: SkillPlace[] = [...inProject, ...own, ...plugins]
  return all.filter(({ folder }, i) => all.findIndex((other) => other.folder === folder) === i)
}

/** The person's own folders of skills. */
export function ownPlaces(): string[] {
  return [join(Global.config(), "skills"), ...inHome(".agents/skills"), ...inHome(".claude/skills")]
}

/** Whether there may be skills at all. */
export function hasSkills(configured: string | undefined): boolean {
  // Missing folders are the usual case, and an exception for each would be slow.
  return skillPlaces(configured).some(({ folder }) => existsSync(folder))
}

function named(configured: string | undefined): string[] {
  return configured === undefined ? [] : [configured]
}

function inHome(name: string): string[] {
  return isAbsolute(homedir()) ? [join(homedir(), name)] : []
}
