// Starts a program that cannot outlive us, even if we are killed. A shell in the program's process group waits on a
// pipe that only we hold open. When we end, the pipe closes, and the shell kills the group and the processes that left
// it: on Linux those with our mark in their environment, elsewhere those whose parent is known. Messages do not pass
// through the shell.
import { type ChildProcessByStdio, spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import type { Duplex, Readable, Writable } from "node:stream"
import { setTimeout as sleep } from "node:timers/promises"
import * as Env from "#kernel/process/env.ts"
import { markName } from "./environment.ts"
import * as ProcessTree from "./process-tree.ts"
import * as Processes from "./processes.ts"

export type GuardedProcess = {
  pid: number | undefined
  stdin: Writable
  stdout: Readable
  stderr: Readable
  /** Resolves when the program itself has ended, even if other processes still hold its pipes. */
  exited: Promise<Exit>
  /** Closes its input, then sends SIGTERM, then kills it and all that it started. */
  end(): Promise<void>
  /** Kills it and all that it started at once. */
  kill(): void
}
export type Exit = { code: number | null; signal: NodeJS.Signals | null; error?: Error }

/** Milliseconds for each step of `end`. Many servers ignore that their input is closed; SIGTERM ends most of them. */
const patience = { input: 300, ask: 2_000, kill: 1_000 }
const windows = process.platform === "win32"
/** Milliseconds between output of the program and the scan for processes that it started. */
export const scanPause = process.platform === "linux" ? 500 : 2_000

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
  // An idle server must not keep this process alive. During a call, the timer of the call does.
  child.unref()
  for (const stream of child.stdio) (stream as { unref?(): void } | null)?.unref?.()
  const exited = new Promise<Exit>((resolve) => {
    child.once("error", (error) => resolve({ code: null, signal: null, error }))
    child.once("exit", (code, signal) => resolve({ code, signal }))
  })
  let gone = false
  let tree: ProcessTree.Tree = new Map()
  let scanning: NodeJS.Timeout | undefined
  const finder = windows || child.pid === undefined ? undefined : ProcessTree.createFinder(child.pid)
  const scan = (find: "find" | "findMore" = "find") => {
    if (!finder || gone) return
    const before = ProcessTree.format(tree)
    tree = finder[find](tree)
    const now = ProcessTree.format(tree)
    if (now !== before && pipe?.writable) pipe.write(`${now}\n`)
  }
  child.stdout.on("data", () => {
    scanning ??= setTimeout(() => {
      scanning = undefined
      scan("findMore")
    }, scanPause).unref()
  })
  const kill = () => {
    // After the program and its group have ended, the process id may be reused.
    if (child.pid === undefined || gone) return
    clearTimeout(scanning)
    scan()
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
    scan()
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

/** The mark of the tool call that started this process, if there is one. Our servers inherit it. */
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

/** The shell that waits beside a program until we are gone, and then ends it and its descendants: its group, processes
 * with its mark, those that we last reported (`process-tree.ts`), and the children of all these. Its arguments are the
 * mark and the command; its descriptor 3 is the pipe that only we hold open. */
const guardScript = `
marked() {
  [ -r /proc/self/environ ] || return
  grep -lsaF -e "$mark" /proc/[0-9]*/environ | tr -cs 0-9 " "
}
known() {
  for one in $told; do
    pid=\${one%%:*}
    if [ -r /proc/self/stat ]; then
      case " $(cat "/proc/$pid/stat") " in *" \${one#*:} "*) echo "$pid" ;; esac
    else
      [ "$(ps -o lstart= -p "$pid" | tr -cd "[:alnum:]")" = "\${one#*:}" ] && echo "$pid"
    fi
  done
}
parents() {
  if [ -r /proc/self/status ]
  then grep -s "^PPid:" /proc/[0-9]*/status | tr -cs 0-9 " "
  else ps -A -o pid= -o ppid=
  fi
}
collect() {
  all=" $(echo $$ $all $(known) $(marked)) "
  pairs=$(parents)
  grown=yes
  while [ "$grown" ]; do
    grown=
    set -- $pairs
    while [ $# -gt 1 ]; do
      case $all in
      *" $1 "*) ;;
      *" $2 "*) all="$all$1 " grown=yes ;;
      esac
      shift 2
    done
  done
}
end() {
  for pid in $all; do [ "$pid" = "$me" ] || kill -s "$1" "$pid"; done
}
mark=$1
shift
(
  trap "" TERM INT HUP
  told=
  while read -r line; do told=$line; done
  # Its input ended with us as well. It must not be gone before its children were counted.
  kill -s STOP $$
  LC_ALL=C TZ=UTC
  export LC_ALL TZ
  me=$(exec sh -c 'echo $PPID')
  all=
  collect
  end TERM
  kill -s TERM -- "-$$"
  kill -s CONT $$
  sleep 1
  collect
  end KILL
  kill -s KILL -- "-$$"
) <&3 >/dev/null 2>&1 &
exec 3<&-
${markName}=\${${markName}:+$${markName}/}$mark
export ${markName}
exec "$@"
`
