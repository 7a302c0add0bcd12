// A running boundary: its limits, its end, and the removal of what was made for it.
import type { ChildProcess } from "node:child_process"
import { setImmediate, setTimeout as sleep } from "node:timers/promises"
import { textOf } from "#util/file/path-info.ts"
import type { Disarmed } from "./disarm-repositories.ts"
import { type Exceeded, watchTree } from "./limits.ts"
import { rootIsNoBoundary, type User } from "./machine.ts"
import type { Policy, Status } from "./policy.ts"
import { type Stamps, watchPlaces } from "./watch-places.ts"

export type Ended = {
  exitCode: number | null
  signal: NodeJS.Signals | null
  exceeded?: Exceeded
  replaced?: string
}
export type Exited = Promise<Omit<Ended, "exceeded" | "replaced">>
export type Boundary = Readonly<{
  child: ChildProcess
  status: Status
  /** When nothing inside runs any more. `replaced` is a protected path that another program replaced. */
  ended: Promise<Ended>
  /** Ends everything inside. */
  stop(): Promise<void>
  /** Renames nested repositories that programs inside made, and that would run something outside. */
  disarm(): Promise<Disarmed>
}>

/** Milliseconds to wait for processes that the kernel is ending. */
const endLimit = 5_000

export function holdBoundary(options: {
  child: ChildProcess
  exited: Exited
  policy: Policy
  user: User
  stack: AsyncDisposableStack
  hasGroup: boolean
  stamps: Stamps
  disarm: Boundary["disarm"]
}): Boundary {
  const { child, exited, policy, user, stack, hasGroup, stamps, disarm } = options
  const pid = child.pid!
  const first = childOf(pid)
  let exceeded: Exceeded | undefined
  const end = (what: Exceeded) => {
    exceeded = what
    kill()
  }
  let replaced: string | undefined
  const unwatchPlaces = watchPlaces(stamps, (path) => {
    replaced = path
    kill()
  })
  const unwatch = first && !hasGroup ? watchTree(first, policy, end) : undefined
  const timer = policy.timeout === undefined ? undefined : setTimeout(end, policy.timeout, "time").unref()

  /** The kernel ends all processes of a namespace with its first one. */
  function kill(): void {
    for (const one of [first, pid])
      try {
        if (one) process.kill(one, "SIGKILL")
      } catch {
        // It has ended.
      }
  }

  async function settle(): Promise<Ended> {
    const exit = await exited
    unwatch?.()
    unwatchPlaces()
    clearTimeout(timer)
    for (const start = performance.now(); first && isAlive(first); ) {
      const waited = performance.now() - start
      if (waited > endLimit) break
      await (waited < 2 ? setImmediate() : sleep(1))
    }
    await stack.disposeAsync()
    return { ...exit, ...(exceeded ? { exceeded } : {}), ...(replaced ? { replaced } : {}) }
  }

  const ended = settle()
  const status: Status = {
    ...{ isolated: true, pid, by: "bubblewrap", user: user.name },
    limits: hasGroup ? "cgroup" : "rlimit",
    missing: user.isRoot ? [rootIsNoBoundary] : [],
  }
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) kill()
    await ended
  }
  return Object.freeze({ child, status, ended, stop, disarm })
}

/** Bubblewrap waits in one process and starts one other, the first in the namespace. */
export function childOf(pid: number): number | undefined {
  return Number(textOf(`/proc/${pid}/task/${pid}/children`)?.split(" ")[0]) || undefined
}

/** A zombie has ended, and so has everything in its namespace. */
function isAlive(pid: number): boolean {
  const stat = textOf(`/proc/${pid}/stat`)
  return stat !== undefined && !/^[ZX]/.test(stat.slice(stat.lastIndexOf(")") + 2))
}
