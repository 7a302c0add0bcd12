// Starts a program that cannot outlive us, however we end. A shell in the program's own process group waits on a pipe
// that only we hold open: when we are gone, even by SIGKILL, the pipe closes and the shell ends the whole group, and what
// left it: on Linux by the mark that it carries, elsewhere and without a mark by who started it. Messages do not pass
// through it.
import { type ChildProcessByStdio, spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import type { Duplex, Readable, Writable } from "node:stream"
import { setTimeout as sleep } from "node:timers/promises"
import { markName } from "#ability/shell/environment.ts"
import * as Processes from "#ability/shell/processes.ts"
import * as Env from "#kernel/process/env.ts"
import { guardScript } from "./guard-script.ts"
import * as ProcessTree from "./process-tree.ts"

export type GuardedProcess = {
  pid: number | undefined
  stdin: Writable
  stdout: Readable
  stderr: Readable
  /** Settles when the program itself ended, whoever still holds its pipes. */
  exited: Promise<Exit>
  /** Closes its input, then asks, then makes it and all that it started end. */
  end(): Promise<void>
  /** The same at once. */
  kill(): void
}
export type Exit = { code: number | null; signal: NodeJS.Signals | null; error?: Error }

/** Many servers do not look whether their input is closed. Asking ends most of those at once. */
const patience = { input: 300, ask: 2_000, kill: 1_000 }
const windows = process.platform === "win32"
/** From a sign of life to the look at what the program has started: it may end before anyone can ask. */
export const lookPause = process.platform === "linux" ? 500 : 2_000

export function startGuarded(options: {
  command: string[]
  env?: Record<string, string>
  cwd?: string
}): GuardedProcess {
  const mark = `mcp-${randomBytes(8).toString("hex")}`
  const [program, args] = windows
    ? [options.command[0]!, options.command.slice(1)]
    : ["/bin/sh", ["-c", guardScript, "sh", mark, ...options.command]]
  const child = spawn(program, args, {
    cwd: options.cwd,
    env: { ...Env.forServer(), ...outerMark(), ...options.env },
    stdio: ["pipe", "pipe", "pipe", "pipe"],
    detached: !windows,
    windowsHide: true,
  }) as ChildProcessByStdio<Writable, Readable, Readable>
  const pipe = child.stdio[3] as Duplex | undefined
  pipe?.on("error", () => {})
  // A server that nobody waits for does not keep this process alive; a call has a timer that does.
  child.unref()
  for (const stream of child.stdio) (stream as { unref?(): void } | null)?.unref?.()
  const exited = new Promise<Exit>((resolve) => {
    child.once("error", (error) => resolve({ code: null, signal: null, error }))
    child.once("exit", (code, signal) => resolve({ code, signal }))
  })
  let gone = false
  let tree: ProcessTree.Tree = new Map()
  let looking: NodeJS.Timeout | undefined
  const finder = windows || child.pid === undefined ? undefined : ProcessTree.createFinder(child.pid)
  const look = (find: "find" | "findMore" = "find") => {
    if (!finder || gone) return
    const before = ProcessTree.format(tree)
    tree = finder[find](tree)
    const now = ProcessTree.format(tree)
    if (now !== before && pipe?.writable) pipe.write(`${now}\n`)
  }
  child.stdout.on("data", () => {
    looking ??= setTimeout(() => {
      looking = undefined
      look("findMore")
    }, lookPause).unref()
  })
  const kill = () => {
    // Once its group was ended after it, its number may be another's.
    if (child.pid === undefined || gone) return
    clearTimeout(looking)
    look()
    gone = child.exitCode !== null || child.signalCode !== null
    if (windows) child.kill("SIGKILL")
    else Processes.kill([child.pid], (one) => one === mark)
    ProcessTree.kill(tree)
  }
  const end = async () => {
    const within = async (ms: number) => {
      const over = new AbortController()
      const late = sleep(ms, false, { signal: over.signal }).catch(() => false)
      const ended = await Promise.race([exited.then(() => true), late])
      over.abort()
      return ended
    }
    look()
    child.stdin.end()
    if (!(await within(patience.input)) && child.pid !== undefined) {
      askGroup(child.pid)
      await within(patience.ask)
    }
    kill()
    await within(patience.kill)
    child.stdout.destroy()
    child.stderr.destroy()
    pipe?.destroy()
  }
  return {
    pid: child.pid,
    stdin: child.stdin,
    stdout: child.stdout,
    stderr: child.stderr,
    exited,
    end,
    kill,
  }
}

/** Calls that we stem from ourselves. */
function outerMark(): Record<string, string> {
  const mark = Env.get(markName)
  return mark ? { [markName]: mark } : {}
}

function askGroup(group: number) {
  try {
    process.kill(windows ? group : -group, "SIGTERM")
  } catch {
    // It ended in between.
  }
}
