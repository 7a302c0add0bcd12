// Whether a process still runs, told in a way that a later process with the same number cannot be taken for it.
import { readFileSync } from "node:fs"

export type ProcessLife = { pid: number; started: string }

export function ownLife(): ProcessLife {
  return { pid: process.pid, started: lifeOf(process.pid).started }
}

export function isRunning({ pid, started }: ProcessLife): boolean {
  if (!exists(pid)) return false
  const life = lifeOf(pid)
  return !life.ended && life.started === started
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
