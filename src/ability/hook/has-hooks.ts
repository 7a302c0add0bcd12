// Finds out if there are hooks. Without them, their code is not loaded.
import { homedir } from "node:os"
import { join } from "node:path"
import * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import { installed } from "#kernel/plugin/plugins.ts"
import * as Global from "#kernel/process/global.ts"
import { foreignHookFiles, hookFile } from "#kernel/reviewed/places.ts"
import { isAbsent } from "#util/file/path-info.ts"
import type { Hook } from "./hook.ts"

export type HookFile = { path: string; isProjects: boolean }
/** `unused`: what is not used, and why, one line each. */
export type Loaded = Readonly<{ hooks: readonly Hook[]; unused: readonly string[] }>
type State = { config?: Config.Info["hooks"]; stamp?: string; loaded?: Loaded }

export const hookState = Instance.state((): State => ({}))

export async function hasHooks(): Promise<boolean> {
  const { hooks } = await Config.get()
  // A command must not end the hooks of a running instance by removing their files.
  if (hookState().loaded?.hooks.length) return true
  if (Object.keys(hooks?.on ?? {}).length) return true
  if (installed().some(({ parts }) => parts.hooks.length)) return true
  return hookFiles(hooks?.otherAgents).some(({ path }) => !isAbsent(path))
}

/** The files that hooks are read from, whether they exist or not: the person's own first. */
export function hookFiles(otherAgents = false): HookFile[] {
  const own = [{ path: join(Global.config(), "hooks.json"), isProjects: false }]
  const project = [{ path: join(Instance.worktree, hookFile), isProjects: true }]
  if (!otherAgents) return [...own, ...project]
  const home = homedir()
  const isHome = Instance.worktree === home
  return [
    ...own,
    ...(isHome ? [] : foreignHookFiles.map((name) => ({ path: join(home, name), isProjects: false }))),
    ...project,
    ...foreignHookFiles.map((name) => ({ path: join(Instance.worktree, name), isProjects: true })),
  ]
}
