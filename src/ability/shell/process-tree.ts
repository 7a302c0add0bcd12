// Finds the descendants of a process group by their parents. A process can leave its group and clear its environment, but
// it keeps its parent while that one lives. A process is identified by id and start time, because ids are reused.
import { execFileSync } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import * as Env from "#kernel/process/env.ts"

/** Start times by process id. */
export type Tree = ReadonlyMap<number, string>

type Process = { pid: number; parent: number; group: number; started: string }

const linux = process.platform === "linux"

/** Finds descendants that have left the group. `known` are those that were found before: their children count, too. */
export type Finder = Readonly<{
  /** Scans all processes. */
  find(known: Tree): Tree
  /** The same, but cheaper soon after another scan: processes that were unrelated then are skipped. */
  findMore(known: Tree): Tree
}>

/** Milliseconds for which an unrelated process is skipped. Later its id may belong to another process. */
const unrelatedAge = 10_000

export function createFinder(group: number): Finder {
  /** Process ids that are no descendants of the group. They never become any. */
  const unrelated = new Set<number>()
  let lastFullScan = 0

  function find(known: Tree): Tree {
    lastFullScan = performance.now()
    unrelated.clear()
    return scan(known)
  }

  function findMore(known: Tree): Tree {
    const isRecent = performance.now() - lastFullScan < unrelatedAge
    return isRecent ? scan(known) : find(known)
  }

  function scan(known: Tree): Tree {
    const listed = list(unrelated)
    const children = Map.groupBy(listed, ({ parent }) => parent)
    const found = new Set(listed.filter((one) => one.group === group || known.get(one.pid) === one.started))
    // Iterating a set includes entries that are added meanwhile.
    for (const { pid } of found) for (const child of children.get(pid) ?? []) found.add(child)
    for (const one of listed) if (!found.has(one)) unrelated.add(one.pid)
    const outside = [...found].filter((one) => one.group !== group)
    return new Map(outside.map(({ pid, started }) => [pid, started]))
  }

  return Object.freeze({ find, findMore })
}

export function kill(tree: Tree): void {
  if (!tree.size) return
  for (const { pid, started } of list())
    if (tree.get(pid) === started)
      try {
        process.kill(pid, "SIGKILL")
      } catch {
        // It has ended, or belongs to another user.
      }
}

/** The form that the guard reads: `12:345 67:890`. */
export function format(tree: Tree): string {
  return [...tree].map(([pid, started]) => `${pid}:${started}`).join(" ")
}

function list(without: ReadonlySet<number> = new Set()): Process[] {
  try {
    return linux ? fromProc(without) : fromPs()
  } catch {
    return []
  }
}

function fromProc(without: ReadonlySet<number>): Process[] {
  const pids = readdirSync("/proc")
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && !without.has(pid))
  return pids.flatMap((pid) => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
      // The name in parentheses may have blanks and parentheses of its own.
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
      return [{ pid, parent: Number(fields[1]), group: Number(fields[2]), started: fields[19] ?? "" }]
    } catch {
      return []
    }
  })
}

function fromPs(): Process[] {
  const columns = ["pid", "ppid", "pgid", "lstart"].flatMap((name) => ["-o", `${name}=`])
  const env = { ...Env.forChild(), LC_ALL: "C", TZ: "UTC" }
  const stdio: ["ignore", "pipe", "ignore"] = ["ignore", "pipe", "ignore"]
  const lines = execFileSync("ps", ["-A", ...columns], { encoding: "utf8", env, stdio }).split("\n")
  return lines.flatMap((line) => {
    const [pid, parent, group, ...start] = line.trim().split(/\s+/)
    const started = start.join("").replace(/\W/g, "")
    return started ? [{ pid: Number(pid), parent: Number(parent), group: Number(group), started }] : []
  })
}
