// A small shell that ends all commands of an Instance if our process dies: it waits on a pipe that only we hold open.
// It knows the running process groups; on Linux it finds processes that left their group by their mark.
import type { ChildProcessByStdio } from "node:child_process"
import { once } from "node:events"
import type { Writable } from "node:stream"
import { setTimeout as sleep } from "node:timers/promises"
import * as Env from "#kernel/process/env.ts"
import { childProcess } from "#util/process.ts"

export type Guard = Readonly<{
  /** The set of running groups has changed. */
  changed(): void
  /** Nothing runs any more. */
  end(): Promise<void>
}>

/** Milliseconds before the guard is updated. Most commands have ended by then. */
const pause = 50
/** The longest wait for its end, in milliseconds. */
const patience = 1_000
/** The last message after a normal end. */
const over = "over"
const script = `
trap "" TERM INT HUP
told=
while read -r line; do told=$line; done
[ "$told" = ${over} ] && exit
marked() {
  [ -r /proc/self/environ ] && grep -lsaF -e "$1" /proc/[0-9]*/environ | tr -cs 0-9 " "
}
end() {
  for group in $told; do kill -s "$1" -- "-$group"; done
  for pid in $(marked "$2"); do kill -s "$1" "$pid"; done
}
end TERM "$1"
sleep 1
end KILL "$1"
`

/** `tag` is in the mark of everything that these commands start, and nowhere else. The guard starts with the first
 * command. */
export function createGuard(tag: string, groups: () => number[]): Guard {
  let shell: ChildProcessByStdio<Writable, null, null> | undefined
  let telling: NodeJS.Timeout | undefined

  function start() {
    const child = childProcess().spawn("/bin/sh", ["-c", script, "vitamin-guard", tag], {
      // Any other working directory could not be removed while the guard runs.
      cwd: "/",
      env: Env.forChild(),
      detached: true,
      stdio: ["pipe", "ignore", "ignore"],
    })
    // Commands run without a guard if there is none; a guard that has died is restarted for the next command.
    child.on("error", () => {})
    child.once("exit", () => {
      if (shell === child) shell = undefined
    })
    child.stdin.on("error", () => {})
    child.unref()
    ;(child.stdin as Writable & { unref?(): void }).unref?.()
    return child
  }

  function changed(): void {
    if (process.platform === "win32") return
    if (shell) telling ??= setTimeout(tell, pause).unref()
    else tell()
  }

  function tell(): void {
    telling = undefined
    shell ??= start()
    shell.stdin.write(`${groups().join(" ")}\n`)
  }

  async function end(): Promise<void> {
    clearTimeout(telling)
    const child = shell
    if (!child || child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, "exit")
    child.ref()
    child.stdin.end(`${over}\n`)
    await Promise.race([ended, sleep(patience, undefined, { ref: false })])
    child.unref()
  }

  return Object.freeze({ changed, end })
}
