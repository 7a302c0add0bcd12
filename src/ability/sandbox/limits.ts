// Limits of memory and processes for everything inside together. Each process has a limit of its own (RLIMIT_DATA, and
// RLIMIT_NPROC for users other than root). The sum is enforced by a control group of the kernel (cgroup v2) where one can be
// made, and watched from outside elsewhere. Before the watch sees a fork bomb of root it could fill the machine, so its
// processes are also limited by a group of cgroup v1.
import {
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmdirSync,
  statSync,
  writeFileSync,
} from "node:fs"
import { release } from "node:os"
import { basename, dirname, join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { namesIn, textOf } from "#util/file/path-info.ts"
import { createId } from "#util/id.ts"
import type { Policy } from "./policy.ts"

export type Exceeded = "memory" | "processes" | "time"
/** `open`: the descriptor of the file that a process writes 0 to in order to join, if the system allows it; `has`: whether it
 * did. `isWhole`: it enforces all limits, so that nothing has to be watched. */
export type Group = {
  isWhole: boolean
  open(): number | undefined
  has(pid: number): boolean
  remove(): Promise<void>
}
type Limits = Pick<Policy, "memory" | "processes">

const groupRoot = "/sys/fs/cgroup"
const kilobytes = 1_024
/** Megabytes that a process may reserve beyond what it uses: V8 reserves 512 for code alone. */
const reserved = 1_024
/** Processes beyond the limit that a group of cgroup v1 admits, so that the watch sees them. */
const watched = 50
/** Milliseconds between two looks. */
const pause = 100
const prefix = "vitamin"
/** Milliseconds after which an empty group is one that a killed process left. */
const leftAfter = 60_000

/** A group beside ours or in it, as far as the system allows; undefined if it does not. */
export function createGroup({ memory, processes }: Limits, root = groupRoot): Group | undefined {
  if (memory === undefined && processes === undefined) return undefined
  const groups = readFileSync("/proc/self/cgroup", "utf8")
  const own = /^0::(.*)$/m.exec(groups)?.[1]
  const limits: [file: string, value: string][] = []
  if (memory !== undefined)
    limits.push(["memory.max", `${memory * kilobytes * kilobytes}`], ["memory.swap.max", "0"])
  if (processes !== undefined) limits.push(["pids.max", `${processes}`])
  if (own !== undefined && existsSync(join(root, "cgroup.controllers")))
    for (const base of [dirname(join(root, own)), join(root, own)]) {
      const group = makeGroup(base, limits)
      if (group) return { ...group, isWhole: true }
    }
  const separate = /^\d+:pids:(.*)$/m.exec(groups)?.[1]
  if (separate === undefined || processes === undefined) return undefined
  const group = makeGroup(join(root, "pids", separate), [["pids.max", `${processes + watched}`]])
  return group && { ...group, isWhole: false }
}

function makeGroup(
  base: string,
  limits: [file: string, value: string][],
): Omit<Group, "isWhole"> | undefined {
  const path = join(base, createId(prefix))
  try {
    mkdirSync(path)
  } catch {
    // Not allowed here.
    return undefined
  }
  try {
    for (const [file, value] of limits) write(file, value)
    return { open, has, remove }
  } catch {
    rmdirSync(path)
    return undefined
  }

  /** The flag keeps a missing file missing: a controller that is off has none. */
  function write(name: string, value: string): void {
    writeFileSync(join(path, name), value, { flag: "r+" })
  }
  /** `tasks`, of cgroup v1, moves one thread. The kernel need not wait for all processors then, which takes 10 ms and more. */
  function open(): number | undefined {
    for (const name of ["tasks", "cgroup.procs"])
      try {
        return openSync(join(path, name), constants.O_WRONLY)
      } catch {
        // Another version, or not allowed.
      }
    return undefined
  }
  function has(pid: number): boolean {
    return textOf(`/proc/${pid}/cgroup`)?.includes(`/${basename(path)}\n`) ?? false
  }
  /** The last process in it may still be ending. */
  async function remove(): Promise<void> {
    for (let i = 0; i < 20; i++)
      try {
        rmdirSync(path)
        return removeLeftovers(base)
      } catch {
        await sleep(10)
      }
  }
}

/** Removes the groups of processes that were killed. The kernel keeps one that has processes. A new one is empty until its
 * first process joins. */
function removeLeftovers(base: string): void {
  for (const name of namesIn(base).filter((name) => name.startsWith(`${prefix}_`)))
    try {
      const path = join(base, name)
      if (statSync(path).mtimeMs < Date.now() - leftAfter) rmdirSync(path)
    } catch {
      // It is in use, or another process was faster.
    }
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
    const found = usageOf(first, limits.memory !== undefined)
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
function usageOf(first: number, withMemory: boolean): { processes: number; memory: number } {
  const proc = `/proc/${first}/root/proc`
  const pids = namesIn(proc).filter((name) => /^\d+$/.test(name))
  let memory = 0
  for (const pid of withMemory ? pids : []) {
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
