// Runs one command to its end, for programs that embed vitamin and for the `bash` tool.
import { createId } from "#util/id.ts"
import { createRecord, type Record } from "./record.ts"
import { createShells, type Shells } from "./shells.ts"
import type { Ending, Order } from "./start-shell.ts"

export type ExecOptions = {
  /** Where it runs; our own folder by default. */
  cwd?: string
  /** Milliseconds until it is ended; none by default. */
  timeout?: number
  /** Ends the command. After that, `exec` throws the signal's reason. */
  signal?: AbortSignal
}
export type ExecResult = Ending & {
  timedOut: boolean
  /** stdout and stderr in order, at most 50 KB. Longer output is in a file whose path is in the text. */
  output: string
  /** Milliseconds. */
  duration: number
}

/** Run a command in bash. A failing command is no error here: see `exitCode` and `signal`. */
export async function exec(command: string, options: ExecOptions = {}): Promise<ExecResult> {
  const shells = createShells({ pipes: 2 })
  const record = createRecord({ sessionId: "exec", callId: createId("exec") })
  try {
    const ran = await runCommand({ ...options, command, shells, record })
    return { ...ran, output: (await record.cut()).text }
  } finally {
    await shells.end()
  }
}

/** The same with the shells and the record of the caller. */
export async function runCommand(
  options: ExecOptions & {
    command: string
    shells: Shells
    record: Record
    env?: Order["env"]
    policy?: Order["policy"]
  },
): Promise<Omit<ExecResult, "output">> {
  const { command, shells, record, env, policy, cwd = process.cwd(), timeout, signal } = options
  signal?.throwIfAborted()
  const start = performance.now()
  const shell = await shells.start({ command, cwd, env, policy, signal, take: record.take })
  let timedOut = false
  const stop = () => void shell.stop()
  const late = () => {
    timedOut = true
    stop()
  }
  const timer = timeout === undefined ? undefined : setTimeout(late, timeout)
  signal?.addEventListener("abort", stop, { once: true })
  if (signal?.aborted) stop()
  try {
    const ending = await shell.ended
    signal?.throwIfAborted()
    return { ...ending, timedOut, duration: Math.round(performance.now() - start) }
  } catch (error) {
    // Nobody will read the output, and its file must be closed.
    await record.cut()
    throw error
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener("abort", stop)
  }
}
