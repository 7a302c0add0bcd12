// Limits of memory and processes for everything inside together. Each process has a limit
// of its own (RLIMIT_DATA, and RLIMIT_NPROC for users other than root). The sum is enforced by a control group of the kernel
// (cgroup v2) where one can be made, and watched from outside elsewhere.
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs"
import { release } from "node:os"
import { dirname, join } from "node:path"
import { namesIn, textOf } from "#util/file/path-info.ts"
import { createId } from "#util/id.ts"
import type { Policy } from "./policy.ts"

export type Exceeded = "memory" | "processes" | "time"
/** `add`: whether the system lets it join. */
export type Group = { add(pid: number): boolean; remove(): void }
type Limits = Pick<Policy, "memory" | "processes">

const groupRoot = "/sys/fs/cgroup"
const kilobytes = 1_024
/** Megabytes that a process may reserve beyond what it uses: V8 reserves 512 for code alone. */
const reserved = 1_024
/** Milliseconds between two looks. */
const pause = 100

/** A group beside ours or in it, as far as the system allows; undefined if it does not. */
export function createGroup({ memory, processes }: Limits, root = groupRoot): Group | undefined {
  if (!hasLimits({ memory, processes })) return undefined
  const own = /^0::(.*)$/m.exec(readFileSync("/proc/self/cgroup", "utf8"))?.[1]
  if (own === undefined || !existsSync(join(root, "cgroup.controllers"))) return undefined
  for (const base of [dirname(join(root, own)), join(root, own)]) {
    const path = join(base, createId("vitamin"))
    try {
      mkdirSync(path)
      try {
        if (memory !== undefined) write("memory.max", `${memory * kilobytes * kilobytes}`)
        if (memory !== undefined) write("memory.swap.max", "0")
        if (processes !== undefined) write("pids.max", `${processes}`)
        return { add, remove }
      } catch {
        remove()
      }
    } catch {
      // Not allowed here.
    }
    /** The flag keeps a missing file missing: a controller that is off has none. */
    function write(name: string, value: string): void {
      writeFileSync(join(path, name), value, { flag: "r+" })
    }
    function add(pid: number): boolean {
      try {
        write("cgroup.procs", `${pid}`)
        return true
      } catch {
        return false
      }
    }
    function remove(): void {
      try {
        rmdirSync(path)
      } catch {
        // A process in it is still ending. An empty group costs nothing.
      }
    }
  }
  return undefined
}

export function hasLimits({ memory, processes }: Limits): boolean {
  return memory !== undefined || processes !== undefined
}

/** What each process may have, for the launcher. */
export function ownLimits({ memory, processes }: Limits, isRoot: boolean) {
  return {
    data: memory && (memory + reserved) * kilobytes,
    processes: isRoot || !countsPerNamespace() ? undefined : processes,
  }
}

/** Calls `exceeded` once if the processes that the first process of a boundary sees are too many or too large. */
export function watchTree(first: number, limits: Limits, exceeded: (what: Exceeded) => void): () => void {
  const timer = setInterval(look, pause).unref()
  function look(): void {
    const found = usageOf(first)
    const what =
      found.processes > (limits.processes ?? Number.POSITIVE_INFINITY)
        ? "processes"
        : found.memory > (limits.memory ?? Number.POSITIVE_INFINITY) * kilobytes
          ? "memory"
          : undefined
    if (!what) return
    clearInterval(timer)
    exceeded(what)
  }
  return () => clearInterval(timer)
}

/** The first process sees exactly the processes of its namespace, in its own /proc. Kilobytes without files, which the
 * kernel can drop. */
function usageOf(first: number): { processes: number; memory: number } {
  const proc = `/proc/${first}/root/proc`
  const pids = namesIn(proc).filter((name) => /^\d+$/.test(name))
  let memory = 0
  for (const pid of pids) {
    const status = textOf(`${proc}/${pid}/status`) ?? ""
    for (const [, size] of status.matchAll(/^Rss(?:Anon|Shmem):\s+(\d+)/gm)) memory += Number(size)
  }
  return { processes: pids.length, memory }
}

/** Since Linux 5.14 RLIMIT_NPROC counts the processes of a user namespace; before, all processes of the user. */
function countsPerNamespace(): boolean {
  const [major = 0, minor = 0] = release().split(/[.-]/).map(Number)
  return major > 5 || (major === 5 && minor >= 14)
}
