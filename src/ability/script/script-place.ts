// Where promoted scripts are kept.
import { resolve } from "node:path"
import type * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"

const usualPath = ".vitamin/scripts.json"

export function scriptFile(settings: Config.Info["scripts"]): string {
  return resolve(Instance.worktree, settings?.path ?? usualPath)
}
