// Descriptors that this process inherited and would pass on to every program that it starts. Node closes its own when a
// program starts, but not those that its parent left open beyond the first 16.
import { closeSync, openSync, readdirSync } from "node:fs"
import { textOf } from "#util/file/path-info.ts"

export type Stdio = "pipe" | "ignore" | number

/** O_CLOEXEC in the flags of /proc/self/fdinfo, which are octal. */
const closedAtStart = 0o2000000
/** Found once: later ones are Node's own. */
let known: number[] | undefined

/** The list with /dev/null in place of every descriptor that would be inherited without being named. */
export function withoutLeaks(stdio: Stdio[]): { stdio: Stdio[]; close(): void } {
  known ??= readdirSync("/proc/self/fd")
    .map(Number)
    .filter((fd) => fd > 2 && isInherited(fd))
  const covered = known.filter((fd) => (stdio[fd] ?? "ignore") === "ignore")
  if (covered.length === 0) return { stdio, close() {} }
  const nothing = openSync("/dev/null", "r+")
  const last = Math.max(stdio.length - 1, ...covered)
  const all = Array.from({ length: last + 1 }, (_, fd) =>
    covered.includes(fd) ? nothing : (stdio[fd] ?? "ignore"),
  )
  return { stdio: all, close: () => closeSync(nothing) }
}

function isInherited(fd: number): boolean {
  const flags = /^flags:\s+([0-7]+)/m.exec(textOf(`/proc/self/fdinfo/${fd}`) ?? "")?.[1]
  return flags !== undefined && (Number.parseInt(flags, 8) & closedAtStart) === 0
}
