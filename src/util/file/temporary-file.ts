// Names for files that are written beside the one whose place they take, and the removal of those that a killed process
// left. The name says who writes it, so that a file of a living process is never taken away.
import { createHash } from "node:crypto"
import { lstatSync, readdirSync, readlinkSync, unlinkSync } from "node:fs"
import { hostname } from "node:os"
import { join } from "node:path"
import { createId } from "#util/id.ts"
import { isRunning, ownLife } from "#util/process-life.ts"

const form = /^\.vitamin-tmp\.([0-9a-f]{8})\.(\d+)\.(\d*)\.tmp_[0-9a-z]+$/
/** What another machine or container left cannot be judged by its process; nobody writes a file for this long. */
const maxAge = 86_400_000

export function temporaryName(): string {
  const { pid, started } = ownLife()
  return `.vitamin-tmp.${whereWeRun()}.${pid}.${started}.${createId("tmp")}`
}

/** Remove what dead processes left in a folder. What cannot be removed stands in nobody's way. */
export function removeLeftovers(folder: string): void {
  for (const name of namesIn(folder))
    if (form.test(name) && isLeft(folder, name))
      try {
        unlinkSync(join(folder, name))
      } catch {
        // Somebody else was faster, or it is not ours to remove.
      }
}

function isLeft(folder: string, name: string): boolean {
  const [, where, pid, started = ""] = form.exec(name)!
  if (where === whereWeRun()) return !isRunning({ pid: Number(pid), started })
  const stat = lstatSync(join(folder, name), { throwIfNoEntry: false })
  return stat !== undefined && stat.mtimeMs < Date.now() - maxAge
}

/** Process numbers mean something only on one machine and in one container. */
function whereWeRun(): string {
  return createHash("sha256").update(`${hostname()} ${processSpace()}`).digest("hex").slice(0, 8)
}

function processSpace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid")
  } catch {
    return ""
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
