// A small shell beside all commands of an Instance, so that none outlives us, however we end: it waits on a pipe that only we
// hold open. It is told which groups run; on Linux what left its group is known by its mark.
import type { ChildProcessByStdio } from "node:child_process"
import { once } from "node:events"
import type { Writable } from "node:stream"
import { setTimeout as sleep } from "node:timers/promises"
import * as Env from "#kernel/process/env.ts"
import { childProcess } from "#util/builtins.ts"

export type Guard = Readonly<{
  /** Other groups run than before. */
  changed(): void
  /** Nothing runs any more. */
  end(): Promise<void>
}>

/** Most commands are over by then, and need not be told of: what begins and ends between has its mark. */
const pause = 50
/** For its end, which takes it no time. */
const patience = 1_000
/** What is said last, where we end as we should. */
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

/** `tag` is in the mark of everything that these commands start, and nowhere else. Begins when the first one runs. */
export function createGuard(tag: string, groups: () => number[]): Guard {
  let shell: ChildProcessByStdio<Writable, null, null> | undefined
  let telling: NodeJS.Timeout | undefined

  function start() {
    const child = childProcess().spawn("/bin/sh", ["-c", script, "vitamin-guard", tag], {
      // No folder is kept from being removed.
      cwd: "/",
      env: Env.forChild(),
      detached: true,
      stdio: ["pipe", "ignore", "ignore"],
    })
    // Where there is none, commands run all the same; one that ended is started again for the next.
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
