// The processes that a command started: those of its group, and on Linux those that left it, which have the command's
// mark in their environment. Sends them SIGTERM, and SIGKILL if they do not end.
import { readdirSync, readFileSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import { errorCode } from "#util/error.ts"
import { markName } from "./environment.ts"

/** Milliseconds between SIGTERM and SIGKILL. */
const patience = 2_000
/** Milliseconds to wait after SIGKILL. A process of another user, or one stuck in the kernel, may never end. */
const lastWait = 1_000
const linux = process.platform === "linux"

/** Whether a process of the group still runs. Zombies do not count. */
export function isRunning(group: number): boolean {
  return signal(-group, 0) && (!linux || members(group).length > 0)
}

/** The command lines of a group. Empty if the system does not say. */
export function describe(group: number): string[] {
  return linux ? members(group).map(commandOf) : []
}

/** End a group: SIGTERM, and SIGKILL for what is left after two seconds. */
export async function endGroup(group: number): Promise<void> {
  await end(() => (isRunning(group) ? [-group] : []))
}

/** End all processes whose mark `matches`. */
export async function endMarked(matches: (mark: string) => boolean): Promise<void> {
  if (linux) await end(() => marked(matches))
}

/** Immediately, for when our own process is about to exit. */
export function kill(groups: number[], matches: (mark: string) => boolean): void {
  for (const group of groups) signal(-group, "SIGKILL")
  if (linux) for (const pid of marked(matches)) signal(pid, "SIGKILL")
}

async function end(running: () => number[]) {
  const start = performance.now()
  let targets = running()
  for (const target of targets) signal(target, "SIGTERM")
  for (let pause = 5; targets.length > 0; pause = Math.min(2 * pause, 50)) {
    await sleep(pause)
    targets = running()
    const waited = performance.now() - start
    if (waited > patience + lastWait) return
    if (waited > patience) for (const target of targets) signal(target, "SIGKILL")
  }
}

function signal(target: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(target, name)
  } catch (error) {
    return errorCode(error) === "EPERM" && linux
  }
}

function members(group: number): number[] {
  return pids().filter((pid) => {
    // The name in parentheses may itself contain blanks and parentheses.
    const stat = read(pid, "stat")
    const [state, , itsGroup] = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
    return itsGroup === String(group) && state !== "Z" && state !== "X"
  })
}

function marked(matches: (mark: string) => boolean): number[] {
  return pids().filter((pid) => {
    const environment = read(pid, "environ")
    if (pid === process.pid || !environment.includes(`${markName}=`)) return false
    const entry = environment.split("\0").find((one) => one.startsWith(`${markName}=`))
    return (
      entry
        ?.slice(markName.length + 1)
        .split("/")
        .some(matches) ?? false
    )
  })
}

function pids(): number[] {
  return readdirSync("/proc").map(Number).filter(Number.isInteger)
}

function commandOf(pid: number): string {
  const words = read(pid, "cmdline").split("\0").filter(Boolean).join(" ")
  return words.length > 60 ? `${words.slice(0, 60)}…` : words || String(pid)
}

/** Processes may end meanwhile, and those of other users are not readable. */
function read(pid: number, what: "stat" | "environ" | "cmdline"): string {
  try {
    return readFileSync(`/proc/${pid}/${what}`, "utf8")
  } catch {
    return ""
  }
}
