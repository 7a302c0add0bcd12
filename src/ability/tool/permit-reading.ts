// What may run while nobody has said more: reading inside the workspace, and the long outputs of the same session.
import { resolve } from "node:path"
import { Instance } from "#kernel/instance.ts"
import { outputFolder } from "./output.ts"
import { isInside, PathOutside, resolveInside } from "./resolve-inside.ts"
import type { Refusal, Step } from "./run-tool.ts"
import type { Need } from "./tool.ts"

/** The default of the gate's permission slot: a refusal with its reason, or undefined. */
export async function permitReading({ tool, needs, context }: Step): Promise<Refusal | undefined> {
  const reason =
    needs.length === 0 ? "it does not say what it needs" : await firstProblem(needs, context.sessionId)
  return reason === undefined
    ? undefined
    : {
        message: `"${tool.id}" was not run: ${reason}. Only reading inside the workspace (${Instance.worktree}) is allowed.`,
      }
}

/** The folder that a path must be in: the session's outputs for one of those, else the workspace. */
export function rootOf(path: string, sessionId: string): string {
  const outputs = outputFolder(sessionId)
  return isInside(outputs, resolve(Instance.directory, path)) ? outputs : Instance.worktree
}

async function firstProblem(needs: Need[], sessionId: string): Promise<string | undefined> {
  for (const { permission, target } of needs) {
    if (permission !== "file.read") return `${permission} of ${JSON.stringify(target)} is not allowed`
    try {
      await resolveInside(rootOf(target, sessionId), resolve(Instance.directory, target))
    } catch (error) {
      if (error instanceof PathOutside) return `${JSON.stringify(target)} is outside of the workspace`
      throw error
    }
  }
  return undefined
}
