// Runs one command in a shell, until everything that it started has ended: a process group of its own, no terminal,
// an empty stdin, and stdout and stderr in one pipe so that their order is right.
import type { ChildProcess } from "node:child_process"
import { once } from "node:events"
import { closeSync, readSync } from "node:fs"
import { Socket } from "node:net"
import { basename } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import type { Boundary, Policy } from "#ability/sandbox/sandbox.ts"
import { errorCode, errorText, NamedError } from "#util/error.ts"
import { childProcess } from "#util/process.ts"
import { environmentFor, passedVariables, secretVariables } from "./environment.ts"
import { gitEnvironment } from "./git-environment.ts"
import { closePipe, type Pipe, type Pipes, readPipe } from "./pipes.ts"
import * as Processes from "./processes.ts"
import { graceFor } from "./sandboxed.ts"

export type Order = {
  command: string
  cwd: string
  /** Added to the environment of the command. */
  env?: Record<string, string> | undefined
  /** A background command: processes that it leaves behind keep running. */
  background?: boolean
  /** The sandbox that it runs in. */
  policy?: Policy | undefined
  /** The signal of the turn. If it aborts, processes that left the group end too. */
  signal?: AbortSignal | undefined
  take(chunk: Buffer): Promise<void>
}
export type Ending = {
  exitCode: number | null
  signal: string | null
  /** The folder of the command at its end, if known. */
  cwd?: string
  /** Processes of its group that were still running, and were ended. */
  left: string[]
  /** A process outside of its group still has its output open. */
  held: boolean
  /** The limit of its sandbox that it exceeded. */
  exceeded?: string
}
export type Shell = {
  group: number
  ended: Promise<Ending>
  /** End all that the command started. */
  stop(): Promise<void>
}

export class NotStarted extends NamedError {
  constructor(reason: string) {
    super("Shell.NotStarted", `The command was not started: ${reason}`)
  }
}

/** A process that ends just after its shell, as in `> >(tee log)`, does not count as left behind. */
const grace = 500
const backgroundPause = 250
const maxFolder = 65_536

/** A descriptor that commands do not use. */
const folderFd = 19
/** Writes the folder of the shell to a file. */
export const tellFolder = (file: string) => `command pwd -P >${file} 2>/dev/null`

/** Words that can change the folder; evaluated or sourced text may contain them. */
const moving = /(?<![\w./-])(?:cd|pushd|popd|eval|source)(?![\w.=-])|(?:^|[;&|({\n])[^\S\n]*\.\s/

type Stdio = "pipe" | "ignore" | number
type Wrapping = {
  /** Whether stderr must go where stdout goes. */
  joins: boolean
  /** What to run when the command ends. */
  atExit: string[]
}

export async function startShell(options: {
  file: string
  mark: string
  order: Order
  pipes: Pipes
}): Promise<Shell> {
  const { file, mark, order, pipes } = options
  const out = await pipes.get()
  // For the final folder of the command.
  const side = !order.background && mayMove(order.command) ? await pipes.get() : undefined
  const { child, boundary } = await spawnShell({ file, mark, order, out, side })
  const group = child.pid!
  const stream = out
    ? new Socket({ fd: out.read, readable: true, writable: false })
    : (child.stdout as Socket)
  const reading = readPipe(stream, order.take)
  if (order.background) {
    child.unref()
    stream.unref()
  }
  const exited: Promise<Pick<Ending, "exitCode" | "signal" | "exceeded">> = boundary?.ended ?? exitOf(child)
  let stopping: Promise<void> | undefined
  let over = false

  async function settle(): Promise<Ending> {
    const { exitCode, signal, exceeded } = await exited
    const left = order.background ? await outlive() : await endLeft()
    await stopping
    const held = await reading.drain()
    over = true
    const cwd = side && readFolder(side)
    return { exitCode, signal, left, held, ...(exceeded ? { exceeded } : {}), ...(cwd ? { cwd } : {}) }
  }

  async function outlive(): Promise<string[]> {
    while (!stopping && Processes.isRunning(group)) await sleep(backgroundPause, undefined, { ref: false })
    return []
  }

  async function endLeft(): Promise<string[]> {
    for (const start = performance.now(); !stopping && Processes.isRunning(group); await sleep(10)) {
      if (performance.now() - start < grace) continue
      const names = Processes.describe(group)
      await Processes.endGroup(group)
      return names.length ? names : ["a process"]
    }
    return []
  }

  async function end() {
    await (boundary ? boundary.stop() : Processes.endGroup(group))
    await Processes.endMarked((found) => found === mark)
  }

  async function stop() {
    // After the end, the process id may belong to another process.
    if (!over) stopping ??= end()
    await stopping
  }

  return Object.freeze({ group, ended: settle(), stop })
}

async function spawnShell(options: {
  file: string
  mark: string
  order: Order
  out: Pipe | undefined
  side: Pipe | undefined
}): Promise<{ child: ChildProcess; boundary?: Boundary }> {
  const { file, mark, order, out, side } = options
  const { command, cwd, policy } = order
  const stdio: Stdio[] = ["ignore", out?.write ?? "pipe", out?.write ?? "ignore"]
  const script = wrap(command, {
    joins: !out,
    atExit: [...(side ? [tellFolder(`/dev/fd/${folderFd}`)] : []), ...(policy ? [graceFor(policy)] : [])],
  })
  try {
    while (side && stdio.length < folderFd) stdio.push("ignore")
    if (side) stdio[folderFd] = side.write
    const env = {
      ...environmentFor(mark, await passedVariables()),
      ...(await secretVariables()),
      ...(await gitEnvironment(command, cwd)),
      ...order.env,
    }
    const boundary = policy && (await startInside(file, script, { policy, cwd, env, stdio }))
    const child =
      boundary?.child ??
      childProcess().spawn(file, ["-c", script], { argv0: basename(file), cwd, env, detached: true, stdio })
    if (child.pid === undefined) throw (await once(child, "error"))[0]
    if (out) closeSync(out.write)
    if (side) closeSync(side.write)
    return { child, ...(boundary ? { boundary } : {}) }
  } catch (error) {
    if (out) closePipe(out)
    if (side) closePipe(side)
    throw error instanceof NamedError ? error : new NotStarted(reasonOf(error, command))
  }
}

async function startInside(
  file: string,
  script: string,
  options: { policy: Policy; cwd: string; env: Record<string, string>; stdio: Stdio[] },
): Promise<Boundary> {
  const { policy, ...rest } = options
  const { startBoundary } = await import("#ability/sandbox/sandbox.ts")
  return startBoundary(policy, { command: file, args: ["-c", script], ...rest })
}

/** The listener must be there before the process can end. */
function exitOf(child: ChildProcess): Promise<Pick<Ending, "exitCode" | "signal">> {
  return new Promise((resolve) => child.once("exit", (exitCode, signal) => resolve({ exitCode, signal })))
}

function reasonOf(error: unknown, command: string): string {
  if (errorCode(error) === "E2BIG")
    return `it is too long (${Buffer.byteLength(command)} bytes). Write it to a file and run that.`
  return errorText(error)
}

function readFolder(side: Pipe): string | undefined {
  const buffer = Buffer.allocUnsafe(maxFolder)
  try {
    return buffer.toString("utf8", 0, readSync(side.read, buffer)).replace(/\n$/, "")
  } catch (error) {
    // Nothing was written, and something still could be.
    if (errorCode(error) !== "EAGAIN") throw error
    return undefined
  } finally {
    closeSync(side.read)
  }
}

/** Whether the command may end in another folder. */
export function mayMove(command: string): boolean {
  return moving.test(command)
}

/** The text for the shell: the command, with only the additions that a call needs. A plain command stays plain, so that
 * the shell can exec the program instead of waiting for it. */
export function wrap(command: string, { joins, atExit }: Wrapping): string {
  const parts = [
    ...(joins ? ["exec 2>&1"] : []),
    ...(atExit.length ? [`trap ${quote(["code=$?", ...atExit, "exit $code"].join("; "))} EXIT`] : []),
  ]
  // A shell takes a command that starts with a dash for options of its own.
  if (parts.length === 0) return /^[-+]/.test(command) ? ` ${command}` : command
  return `${parts.join("; ")}; eval ${quote(command)}`
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
