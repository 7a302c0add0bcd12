// Which process works on a session, told in a way that a later process with the same number cannot be taken for it.
import { readFileSync } from "node:fs"
import { z } from "zod"
import { Instance } from "#kernel/instance.ts"

export const Owner = z.object({
  pid: z.number().int(),
  started: z.string(),
  directory: z.string().optional().describe("the instance; one process can have several"),
})
export type Owner = z.infer<typeof Owner>

export function self(): Owner {
  return { pid: process.pid, started: lifeOf(process.pid).started, directory: Instance.directory }
}

export function isAlive(owner: Owner | undefined): boolean {
  if (owner === undefined || !exists(owner.pid)) return false
  const { started, ended } = lifeOf(owner.pid)
  return !ended && started === owner.started
}

/** Whether it is this instance of this process, whose prompts never overlap. */
export function isSelf(owner: Owner | undefined): boolean {
  return owner?.pid === process.pid && isAlive(owner) && owner.directory === Instance.directory
}

/** When a process started, in the kernel's own count; empty where it does not tell (then the number alone decides). One
 * that has ended keeps its number until its parent has asked for it, which in a container may be never. */
function lifeOf(pid: number): { started: string; ended: boolean } {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1")
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
    return { started: fields[19] ?? "", ended: fields[0] === "Z" || fields[0] === "X" }
  } catch {
    return { started: "", ended: false }
  }
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"
  }
}
