// Starts a program inside a boundary of namespaces, mounts, limits and a filter of system calls, made by bubblewrap. The
// launcher inside proves that it holds before the program starts.
import type { ChildProcess } from "node:child_process"
import { once } from "node:events"
import type { Readable, Writable } from "node:stream"
import { type Stdio, withoutLeaks } from "#kernel/process/leaked-descriptors.ts"
import { childProcess } from "#util/process.ts"
import { orAborted } from "#util/wait.ts"
import type { Check } from "./allowed-domains.ts"
import { openGate } from "./gate.ts"
import { type Boundary, type Exited, holdBoundary } from "./hold-boundary.ts"
import { filterFd, launcherArgs, ready, stderrFd } from "./launcher.ts"
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
  /** The program calls `openBridge` itself. */
  bridges?: boolean | undefined
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
/** Holds bubblewrap back until it is in its control group. */
const heldFd = 6
const held = `read -r _ <&${heldFd} && exec ${heldFd}<&- && exec "$@"`
const startLimit = 10_000

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

async function start(policy: Policy, options: Options, stack: AsyncDisposableStack): Promise<Boundary> {
  await removeLeftovers()
  const user = userFor(policy.directory)
  const files = fileSystemFor(policy)
  const tools = findTools(files.shared, user)
  const filter = seccompFilter()
  if (!filter) throw new NotIsolated(`it has no filter of system calls for the processor ${process.arch}.`)
  const placeholders = await createPlaceholders(files.missing, files.places)
  stack.defer(placeholders.remove)
  const stamps = stampsOf(files.fixed)
  const gate = await openGate(policy, options.allowUrl, user)
  if (gate) stack.defer(gate.close)
  const group = createGroup(policy)
  if (group) stack.defer(group.remove)
  using probe = await openPort()
  const { stdio = ["pipe", "pipe", "pipe", "pipe"], command, args, cwd = policy.directory } = options
  const launch = launcherArgs({
    outside: outsideFile(files.writable),
    hidden: placeholders.record,
    port: probe.port,
    writable: files.writable,
    keep: [...stdio.keys()].filter((fd) => fd > 2 && stdio[fd] !== "ignore"),
    node: options.bridges ? undefined : gate && process.execPath,
    ...ownLimits(policy, user.isRoot),
    ...{ command, args },
  })
  const { child, exited } = await spawnHeld({
    line: [
      ...[
        ...(group ? ["/bin/sh", "-c", held, "sh"] : []),
        ...tools.privately,
        tools.bwrap,
        ...namespaces,
        ...rights,
        ...files.args,
      ],
      ...[...(gate?.args ?? []), ...files.closing, "--chdir", cwd, "--seccomp", String(filterFd)],
      ...["--", tools.bash, ...launch],
    ],
    env: { ...options.env, ...gate?.env, TMPDIR: "/tmp" },
    stdio: stdioFor(stdio, group !== undefined),
    drop: user.drop,
  })
  // With it ends everything inside.
  stack.defer(() => void child.kill("SIGKILL"))
  pipeTo(child, filterFd, filter)
  const hasGroup = (group?.add(child.pid!) && group.isWhole) ?? false
  if (group) pipeTo(child, heldFd, "\n")
  await untilReady(child)
  if (stdio[2] === "pipe") child.stderr = child.stdio[stderrFd] as Readable
  return holdBoundary({ child, exited, policy, user, stack, hasGroup, stamps })
}

/** The launcher reports on 2 and gets the stderr of the program elsewhere. */
function stdioFor(stdio: Stdio[], isHeld: boolean): Stdio[] {
  const all = Array.from({ length: Math.max(stdio.length, heldFd + 1) }, (_, fd) => stdio[fd] ?? "ignore")
  all[stderrFd] = all[2]!
  all[2] = "pipe"
  all[filterFd] = "pipe"
  if (isHeld) all[heldFd] = "pipe"
  return all
}

async function spawnHeld(options: {
  line: string[]
  env: Record<string, string>
  stdio: Stdio[]
  drop: { uid: number; gid: number } | undefined
}): Promise<{ child: ChildProcess; exited: Exited }> {
  const { line, env, drop = {} } = options
  const { stdio, close } = withoutLeaks(options.stdio)
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
  }
}

function pipeTo(child: ChildProcess, fd: number, data: string | Buffer): void {
  const pipe = child.stdio[fd] as Writable
  // If it has failed already, its report says why.
  pipe.on("error", () => {}).end(data)
}

/** Throws what was reported instead. */
async function untilReady(child: ChildProcess): Promise<void> {
  const report = child.stderr as Readable
  const late = AbortSignal.timeout(startLimit)
  let text = ""
  await orAborted(
    (async () => {
      for await (const chunk of report.setEncoding("utf8").iterator({ destroyOnReturn: false })) {
        text += chunk
        if (text.endsWith(`${ready}\n`)) break
      }
    })(),
    late,
  ).catch(() => {})
  report.destroy()
  if (text !== `${ready}\n`)
    throw new NotIsolated(late.aborted ? `it took longer than ${startLimit / 1000} s.` : explainFailure(text))
}
