// Starts a program that cannot outlive us, however we end. A shell in the program's own process group waits on a pipe
// that only we hold open: when we are gone, even by SIGKILL, the pipe closes and the shell ends the whole group. On Linux
// it also ends what left the group and still carries the mark. Messages do not pass through it.
import { type ChildProcessByStdio, spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import type { Readable, Writable } from "node:stream"
import { setTimeout as sleep } from "node:timers/promises"
import { markName } from "#ability/tool/shell/environment.ts"
import * as Processes from "#ability/tool/shell/processes.ts"
import * as Env from "#kernel/env.ts"

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

const guard = `
marked() {
  [ -r /proc/self/environ ] || return
  for file in $(grep -lsaF -e "$mark" /proc/[0-9]*/environ); do
    file=\${file#/proc/}
    kill -s "$1" "\${file%/environ}"
  done
}
mark=$1
shift
(
  trap "" TERM INT HUP
  read -r _
  kill -s TERM -- "-$$"
  marked TERM
  sleep 1
  marked KILL
  kill -s KILL -- "-$$"
) <&3 >/dev/null 2>&1 &
exec 3<&-
${markName}=\${${markName}:+$${markName}/}$mark
export ${markName}
exec "$@"
`
/** Many servers do not look whether their input is closed. Asking ends most of those at once. */
const patience = { input: 300, ask: 2_000, kill: 1_000 }
const windows = process.platform === "win32"

export function startGuarded(options: {
  command: string[]
  env?: Record<string, string>
  cwd?: string
}): GuardedProcess {
  const mark = `mcp-${randomBytes(8).toString("hex")}`
  const [program, args] = windows
    ? [options.command[0]!, options.command.slice(1)]
    : ["/bin/sh", ["-c", guard, "sh", mark, ...options.command]]
  const child = spawn(program, args, {
    cwd: options.cwd,
    env: { ...Env.forChild(), ...options.env },
    stdio: ["pipe", "pipe", "pipe", "pipe"],
    detached: !windows,
    windowsHide: true,
  }) as ChildProcessByStdio<Writable, Readable, Readable>
  const pipe = child.stdio[3] as Readable | undefined
  pipe?.on("error", () => {})
  // A server that nobody waits for does not keep this process alive; a call has a timer that does.
  child.unref()
  for (const stream of child.stdio) (stream as { unref?(): void } | null)?.unref?.()
  const exited = new Promise<Exit>((resolve) => {
    child.once("error", (error) => resolve({ code: null, signal: null, error }))
    child.once("exit", (code, signal) => resolve({ code, signal }))
  })
  let gone = false
  const kill = () => {
    // Once its group was ended after it, its number may be another's.
    if (child.pid === undefined || gone) return
    gone = child.exitCode !== null || child.signalCode !== null
    if (windows) child.kill("SIGKILL")
    else Processes.kill([child.pid], (one) => one === mark)
  }
  const end = async () => {
    const within = async (ms: number) => {
      const over = new AbortController()
      const late = sleep(ms, false, { signal: over.signal }).catch(() => false)
      const ended = await Promise.race([exited.then(() => true), late])
      over.abort()
      return ended
    }
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

function askGroup(group: number) {
  try {
    process.kill(windows ? group : -group, "SIGTERM")
  } catch {
    // It ended in between.
  }
}
