// The gate's default permissions, if no host provides others: what the built-in rules allow.
import { resolve } from "node:path"
import * as Permission from "#ability/permission/permission.ts"
import { Instance } from "#kernel/instance.ts"
import { isInside } from "#util/file/resolve-inside.ts"
import type { Refusal, Step } from "./call-types.ts"
import { judgeStep } from "./judge-step.ts"
import { outputFolder } from "./output.ts"

/** The default of the gate's permission slot: a refusal with its reason, or undefined. */
export async function permitReading(step: Step): Promise<Refusal | undefined> {
  const layer = { source: "default", rules: Permission.defaults }
  const { needs } = await judgeStep(step, (need) => Permission.evaluate(need, layer))
  const open = needs.filter(({ action }) => action !== "allow")
  return open.length ? { message: Permission.sayNobody(step.tool.id, open) } : undefined
}

/** The folder that must contain a path: the session's outputs for one of those, else the workspace. */
export function rootOf(path: string, sessionId: string): string {
  const outputs = outputFolder(sessionId)
  return isInside(outputs, resolve(Instance.directory, path)) ? outputs : Instance.worktree
}
