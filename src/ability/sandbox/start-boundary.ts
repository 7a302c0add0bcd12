// Starts a program inside a boundary of namespaces, mounts, limits and a filter of system calls, made by bubblewrap. The
// launcher inside proves that it holds before the program starts.
import type { ChildProcess } from "node:child_process"
import { once } from "node:events"
import { closeSync, openSync, unlinkSync, writeSync } from "node:fs"
import type { Duplex, Readable } from "node:stream"
import { type Stdio, withoutLeaks } from "#kernel/process/leaked-descriptors.ts"
import { childProcess } from "#util/process.ts"
import { orAborted } from "#util/wait.ts"
import type { Check } from "./allowed-domains.ts"
import { createGate } from "./gate.ts"
import { type Boundary, childOf, type Exited, holdBoundary } from "./hold-boundary.ts"
import { asksPort, filterFd, forNode, launcherArgs, ready, stderrFd } from "./launcher.ts"
import { createGroup, ownLimits } from "./limits.ts"
import { explainFailure, findTools, userFor } from "./machine.ts"
import { fileSystemFor } from "./mounts.ts"
import { createPlaceholders, removeLeftovers } from "./placeholders.ts"
import { NotIsolated, type Policy } from "./policy.ts"
import { openPort, outsideFile } from "./probe-targets.ts"
import { seccompFilter } from "./seccomp.ts"
import { stampsOf } from "./watch-places.ts"

export type Options = {
  command: string
  args: string[]
  /** All of it: nothing is inherited. */
  env: Record<string, string>
  /** Decides on hosts that `allowedDomains` does not name. */
  allowUrl?: Check | undefined
  /** The program opens the way to the proxy itself (`openBridge`), and makes Node use it. */
  bridges?: boolean | undefined
  /** The program does nothing until this process tells it to: it starts while the boundary is still being proved. */
  waits?: boolean | undefined
  /** Called when it starts by itself: from then on this process may be busy with something else. */
  spawned?: (() => void) | undefined
  /** Where it starts; the folder of the policy by default. */
  cwd?: string | undefined
  /** By default four pipes: stdin, stdout, stderr, and one for both directions. 4 to 6 are taken. */
  stdio?: Stdio[] | undefined
}

const namespaces =
  "--unshare-user --disable-userns --unshare-ipc --unshare-pid --unshare-net --unshare-uts --unshare-cgroup-try".split(
    " ",
  )
const rights = "--cap-drop ALL --die-with-parent --new-session".split(" ")
/** The list of the processes of its control group, which bubblewrap joins before it starts anything. */
const groupFd = 6
const joined = `echo 0 >&${groupFd} 2>/dev/null; exec ${groupFd}>&-; exec "$@"`
const startLimit = 10_000
/** Enough for builds and tests, and far less than what stops a machine. */
const usualProcesses = 2_000
/** Milliseconds that the clock of files may be behind. */
const clockStep = 20

export async function startBoundary(policy: Policy, options: Options): Promise<Boundary> {
  if (process.platform === "darwin")
    return (await import("./with-runtime.ts")).startWithRuntime(policy, options)
  const stack = new AsyncDisposableStack()
  try {
    return await start(policy, options, stack)
  } catch (error) {
    await stack.disposeAsync()
    throw error
  }
}

async function start(given: Policy, options: Options, stack: AsyncDisposableStack): Promise<Boundary> {
  const policy = { ...given, processes: given.processes ?? usualProcesses }
  const since = Date.now() - clockStep
  await removeLeftovers()
  const user = userFor(policy.directory)
  const files = fileSystemFor(policy)
  // The kernel makes them while this process goes on.
  const making = createPlaceholders(files.missing, files.places)
  stack.defer(async () => (await making.catch(() => undefined))?.remove())
  const tools = findTools(files.shared, user)
  const calls = seccompFilter()
  if (!calls) throw new NotIsolated(`it has no filter of system calls for the processor ${process.arch}.`)
  const gate = createGate(policy, options.allowUrl, user)
  if (gate) stack.defer(gate.close)
  const group = createGroup(policy)
  if (group) stack.defer(group.remove)
  const placeholders = await making
  const stamps = stampsOf(files.fixed)
  const { stdio = ["pipe", "pipe", "pipe", "pipe"], command, args, cwd = policy.directory } = options
  const launch = launcherArgs({
    outside: outsideFile(files.writable),
    hidden: placeholders.record,
    writable: files.writable,
    keep: [...stdio.keys()].filter((fd) => fd > 2 && stdio[fd] !== "ignore"),
    node: options.bridges ? undefined : gate && process.execPath,
    waits: options.waits,
    ...ownLimits(policy, user.isRoot),
    ...{ command, args },
  })
  const entrance = group?.open()
  const { child, exited } = await spawnInside({
    line: [
      ...[
        ...(entrance ? ["/bin/sh", "-c", joined, "sh"] : []),
        ...tools.privately,
        tools.bwrap,
        ...namespaces,
        ...rights,
        ...files.args,
      ],
      ...[...(gate?.args ?? []), ...files.closing, "--chdir", cwd, "--seccomp", String(filterFd)],
      ...["--", tools.bash, ...launch],
    ],
    env: {
      ...options.env,
      ...gate?.env,
      ...(gate && !options.bridges ? { [forNode]: "1" } : {}),
      TMPDIR: "/tmp",
    },
    stdio,
    filter: openFilter(calls, placeholders.record),
    group: entrance,
    drop: user.drop,
  })
  // With it ends everything inside.
  stack.defer(() => killBoth(child))
  options.spawned?.()
  await Promise.all([untilReady(child), gate?.open()])
  const hasGroup = (group?.has(child.pid!) && group.isWhole) ?? false
  if (stdio[2] === "pipe") child.stderr = child.stdio[stderrFd] as Readable
  const disarm = async () =>
    (await import("./disarm-repositories.ts")).disarmRepositories(files.shared, since)
  return holdBoundary({ child, exited, policy, user, stack, hasGroup, stamps, disarm })
}

/** Until bubblewrap has told the kernel so, the first process inside does not end with the one that waits for it. */
function killBoth(child: ChildProcess): void {
  if (child.exitCode !== null || child.signalCode !== null) return
  const first = childOf(child.pid!)
  try {
    if (first) process.kill(first, "SIGKILL")
  } catch {
    // It has ended.
  }
  child.kill("SIGKILL")
}

/** A file, whose end bubblewrap finds by itself. It would wait for the end of a pipe until this process, which goes on loading
 * its own code, comes to close it. */
function openFilter(filter: Buffer, record: string): number {
  const file = `${record}.filter`
  const fd = openSync(file, "wx+", 0o600)
  unlinkSync(file)
  writeSync(fd, filter, 0, filter.length, 0)
  return fd
}

type Spawning = {
  line: string[]
  env: Record<string, string>
  stdio: Stdio[]
  /** Open descriptors, which are closed here. */
  filter: number
  group: number | undefined
  drop: { uid: number; gid: number } | undefined
}

/** The launcher reports on 2 and gets the stderr of the program elsewhere. */
function stdioFor({ stdio, filter, group }: Spawning): Stdio[] {
  const all = Array.from({ length: Math.max(stdio.length, groupFd + 1) }, (_, fd) => stdio[fd] ?? "ignore")
  all[stderrFd] = all[2]!
  all[2] = "pipe"
  all[filterFd] = filter
  if (group !== undefined) all[groupFd] = group
  return all
}

async function spawnInside(options: Spawning): Promise<{ child: ChildProcess; exited: Exited }> {
  const { line, env, filter, group, drop = {} } = options
  const { stdio, close } = withoutLeaks(stdioFor(options))
  try {
    const child = childProcess().spawn(line[0]!, line.slice(1), {
      env,
      stdio,
      detached: true,
      cwd: "/",
      ...drop,
    })
    if (child.pid === undefined)
      throw new NotIsolated(explainFailure(String((await once(child, "error"))[0])))
    const exited: Exited = new Promise((resolve) =>
      child.once("exit", (exitCode, signal) => resolve({ exitCode, signal })),
    )
    return { child: child.on("error", () => {}), exited }
  } finally {
    close()
    for (const fd of [filter, group]) if (fd !== undefined) closeSync(fd)
  }
}

/** Tells the launcher the port that it must not reach. Throws what was reported instead of `ready`. */
async function untilReady(child: ChildProcess): Promise<void> {
  using probe = await openPort()
  // Both ends can write. One that writes before it is asked may break the pipe, and lose what was reported.
  const report = child.stdio[2] as Duplex
  const late = AbortSignal.timeout(startLimit)
  let text = ""
  await orAborted(
    (async () => {
      for await (const chunk of report.setEncoding("utf8").iterator({ destroyOnReturn: false })) {
        text += chunk
        if (text === `${asksPort}\n`) {
          text = ""
          report.write(`${probe.port}\n`)
        }
        if (text.endsWith(`${ready}\n`)) break
      }
    })(),
    late,
  ).catch(() => {})
  report.destroy()
  if (text !== `${ready}\n`)
    throw new NotIsolated(late.aborted ? `it took longer than ${startLimit / 1000} s.` : explainFailure(text))
}
