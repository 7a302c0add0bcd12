// Which process works on a session. The start time tells a process from a later one with the same id.
import { z } from "zod"
import { Instance } from "#kernel/instance.ts"
import { about } from "#util/about.ts"
import { isRunning, ownLife } from "#util/process-life.ts"

export const Owner = z.object({
  pid: about("Number of the process.", z.number().int()),
  started: about("When it started, as the system tells it.", z.string()),
  directory: z.string().optional().describe("the instance; one process can have several"),
})
export type Owner = z.infer<typeof Owner>

export function self(): Owner {
  return { ...ownLife(), directory: Instance.directory }
}

export function isAlive(owner: Owner | undefined): boolean {
  return owner !== undefined && isRunning(owner)
}

/** Whether it is this instance of this process; its prompts never overlap. */
export function isSelf(owner: Owner | undefined): boolean {
  return owner?.pid === process.pid && isAlive(owner) && owner.directory === Instance.directory
}
