// Whether guards are configured. Without them, their code is not loaded.
import { join } from "node:path"
import { addedGuards } from "#engine/symbolic/added-guards.ts"
import * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import { installed } from "#kernel/plugin/plugins.ts"
import * as Global from "#kernel/process/global.ts"
import { guardFolder } from "#kernel/reviewed/places.ts"
import { isAbsent } from "#util/file/path-info.ts"

export async function hasGuards(): Promise<boolean> {
  const { guards } = await Config.get()
  if (Object.keys({ ...guards, ...addedGuards() }).length) return true
  if (installed().some(({ parts }) => parts.guards.length)) return true
  return !isAbsent(join(Instance.worktree, guardFolder)) || !isAbsent(join(Global.config(), "guards"))
}
