// A running boundary: its limits, its end, and the removal of what was made for it.
import type { ChildProcess } from "node:child_process"
import { setImmediate, setTimeout as sleep } from "node:timers/promises"
import { textOf } from "#util/file/path-info.ts"
import { type Exceeded, hasLimits, watchTree } from "./limits.ts"
import { rootIsNoBoundary, type User } from "./machine.ts"
import type { Policy, Status } from "./policy.ts"

export type Ended = { exitCode: number | null; signal: NodeJS.Signals | null; exceeded?: Exceeded }
export type Exited = Promise<Omit<Ended, "exceeded">>
export type Boundary = Readonly<{
  child: ChildProcess
  status: Status
  /** When nothing inside runs any more. */
  ended: Promise<Ended>
  /** Ends everything inside. */
  stop(): Promise<void>
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
}): Boundary {
  const { child, exited, policy, user, stack, hasGroup } = options
  const pid = child.pid!
  const first = childOf(pid)
  let exceeded: Exceeded | undefined
  const end = (what: Exceeded) => {
    exceeded = what
    kill()
  }
  const unwatch = first && hasLimits(policy) && !hasGroup ? watchTree(first, policy, end) : undefined
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
    clearTimeout(timer)
    for (const start = performance.now(); first && isAlive(first); ) {
      const waited = performance.now() - start
      if (waited > endLimit) break
      await (waited < 2 ? setImmediate() : sleep(1))
    }
    await stack.disposeAsync()
    return { ...exit, ...(exceeded ? { exceeded } : {}) }
  }

  const ended = settle()
  const status: Status = {
    ...{ isolated: true, pid, by: "bubblewrap", user: user.name },
    ...(hasLimits(policy) ? { limits: hasGroup ? "cgroup" : "rlimit" } : {}),
    missing: user.isRoot ? [rootIsNoBoundary] : [],
  }
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) kill()
    await ended
  }
  return Object.freeze({ child, status, ended, stop })
}

/** Bubblewrap waits in one process and starts one other, the first in the namespace. */
function childOf(pid: number): number | undefined {
  return Number(textOf(`/proc/${pid}/task/${pid}/children`)?.split(" ")[0]) || undefined
}

/** A zombie has ended, and so has everything in its namespace. */
function isAlive(pid: number): boolean {
  const stat = textOf(`/proc/${pid}/stat`)
  return stat !== undefined && !/^[ZX]/.test(stat.slice(stat.lastIndexOf(")") + 2))
}
