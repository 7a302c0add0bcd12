// Runs one command in a terminal of the person's editor, which shows it with the call. The program is bash, as for every
// command. It ends with the turn: the editor is asked to kill it, and on this machine what it left is found by its mark.
import { readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Editor, Terminal } from "#ability/call/editor.ts"
import type { Context } from "#ability/call/types.ts"
import { findProgram } from "#kernel/process/find-program.ts"
import { createId } from "#util/id.ts"
import { waitAtMost } from "#util/wait.ts"
import { editorEnvironment } from "./environment.ts"
import type { ExecResult } from "./exec.ts"
import { gitEnvironment } from "./git-environment.ts"
import * as Processes from "./processes.ts"
import type { Record } from "./record.ts"
import { mayMove, NotStarted, tellFolder, wrap } from "./start-shell.ts"

type Order = {
  command: string
  cwd: string
  timeout: number
  signal: AbortSignal
  record: Record
  context: Pick<Context, "messageId" | "callId">
}
type Ran = Omit<ExecResult, "output">

/** Milliseconds in which a killed program must end, and in which an editor must answer after that. */
const patience = 2_000

/** Undefined if the editor has no terminal for this call. */
export async function runInTerminal({ startTerminal }: Editor, order: Order): Promise<Ran | undefined> {
  const { command, cwd, signal, record, context } = order
  if (!startTerminal) return undefined
  const program = findProgram(["bash", "sh"])
  if (!program) throw new NotStarted("there is no bash or sh on PATH")
  if (command.includes("\0")) throw new NotStarted("it has a NUL byte")
  signal.throwIfAborted()
  const mark = createId("term")
  const folder = mayMove(command) ? join(tmpdir(), `vitamin-${mark}`) : undefined
  const env = { ...(await editorEnvironment(mark)), ...(await gitEnvironment(command, cwd)) }
  const start = performance.now()
  const { messageId, callId } = context
  const terminal = await startTerminal({
    messageId,
    callId,
    command: program,
    args: ["-c", wrap(command, { joins: false, atExit: folder ? [tellFolder(folder)] : [] })],
    cwd,
    env,
    signal,
  })
  if (!terminal) return undefined
  try {
    const ending = await untilEnd(terminal, mark, order)
    const { text, isCut } = await terminal.output()
    if (isCut) await record.take(Buffer.from("[the beginning of the output is left out]\n"))
    await record.take(Buffer.from(text))
    signal.throwIfAborted()
    const to = folder && readFolder(folder)
    const duration = Math.round(performance.now() - start)
    return { ...ending, left: [], held: false, duration, ...(to ? { cwd: to } : {}) }
  } catch (error) {
    // Nobody will read the output, and its file must be closed.
    await record.cut()
    throw error
  } finally {
    await waitAtMost(patience, terminal.release()).catch(() => {})
    if (folder) rmSync(folder, { force: true })
  }
}

async function untilEnd(terminal: Terminal, mark: string, { timeout, signal }: Order) {
  const killed = Promise.withResolvers<{ exitCode: null; signal: string }>()
  let timedOut = false
  const stop = async () => {
    await waitAtMost(patience, terminal.kill()).catch(() => {})
    await Processes.endMarked((found) => found === mark)
    await waitAtMost(patience, terminal.ended).catch(() => {})
    killed.resolve({ exitCode: null, signal: "SIGKILL" })
  }
  const timer = setTimeout(() => {
    timedOut = true
    void stop()
  }, timeout)
  const abort = () => void stop()
  signal.addEventListener("abort", abort, { once: true })
  if (signal.aborted) abort()
  try {
    return { ...(await Promise.race([terminal.ended, killed.promise])), timedOut }
  } finally {
    clearTimeout(timer)
    signal.removeEventListener("abort", abort)
  }
}

/** Missing if the command did not end by itself, or if the editor runs on another machine. */
function readFolder(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8").replace(/\n$/, "") || undefined
  } catch {
    return undefined
  }
}
