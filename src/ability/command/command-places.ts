// Lists the folders that may hold commands, nearest first: the working folder and its parents up to the work tree, then
// the person's own, and those of plugins.
import { homedir } from "node:os"
import { isAbsolute, join } from "node:path"
import { Instance } from "#kernel/instance.ts"
import { installed, type Plugin } from "#kernel/plugin/plugins.ts"
import * as Global from "#kernel/process/global.ts"
import { commandFolders, levels } from "#kernel/reviewed/places.ts"

/** `folder`: the folder, or one file. `root`: the folder that must contain the real files; undefined for the person's own,
 * which may be anywhere. */
export type CommandPlace = { folder: string; root?: string; plugin?: Plugin }

export function commandPlaces(): CommandPlace[] {
  const { directory, worktree } = Instance
  const inProject = levels(directory, worktree).flatMap((level) =>
    commandFolders.map((name) => ({ folder: join(level, name), root: worktree })),
  )
  const home = isAbsolute(homedir()) ? [{ folder: join(homedir(), ".claude/commands") }] : []
  const own = [{ folder: join(Global.config(), "commands") }, ...home]
  const plugins = installed().flatMap((plugin) =>
    plugin.parts.commands.map((path) => ({ folder: join(plugin.root, path), root: plugin.root, plugin })),
  )
  const all: CommandPlace[] = [...inProject, ...own, ...plugins]
  // In the home folder, `.claude/commands` is the person's own and not a project's.
  return all.filter(({ folder }, i) => all.findLastIndex((other) => other.folder === folder) === i)
}
