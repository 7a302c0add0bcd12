// Processes by parent: one that left its group and cleared its environment still has a parent, as long as that one
// lives. A process is identified by its id and start time, because ids are reused.
import { execFileSync } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import * as Env from "#kernel/process/env.ts"

/** Process id and start time. */
export type Tree = ReadonlyMap<number, string>

type Process = { pid: number; parent: number; group: number; started: string }

const linux = process.platform === "linux"

/** Descendants of a group, or of known descendants, that are not in the group. */
export type Finder = Readonly<{
  /** Scans all processes. */
  find(known: Tree): Tree
  /** The same, much cheaper, soon after another scan: only newer processes are read. */
  findMore(known: Tree): Tree
}>

/** The id of an unrelated process may be reused, but not so soon. */
const unrelatedAge = 10_000

export function createFinder(group: number): Finder {
  /** A process with another origin never becomes a descendant of the group. */
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
        // It ended in between, or is another user's.
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
