// Processes: starting children, and whether a process still runs. The start time distinguishes a process from a later
// one with the same id.
import { readFileSync } from "node:fs"

export type ProcessLife = { pid: number; started: string }

export function ownLife(): ProcessLife {
  return { pid: process.pid, started: lifeOf(process.pid).started }
}

export function isRunning({ pid, started }: ProcessLife): boolean {
  if (!hasProcess(pid)) return false
  const life = lifeOf(pid)
  return !life.ended && life.started === started
}

/** The start time of a process in kernel ticks; empty if the system does not say (then only the id counts). A zombie
 * keeps its id until its parent collects it, which in a container may be never. */
function lifeOf(pid: number): { started: string; ended: boolean } {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1")
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
    return { started: fields[19] ?? "", ended: fields[0] === "Z" || fields[0] === "X" }
  } catch {
    return { started: "", ended: false }
  }
}

/** Whether a process has this id, perhaps as a zombie. */
export function hasProcess(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"
  }
}

/** `node:child_process`, loaded when it is first needed, to keep the start fast. */
export function childProcess() {
  return process.getBuiltinModule("node:child_process")
}
