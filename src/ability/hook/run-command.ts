// Runs the command of a hook: JSON on stdin, stdout and stderr kept apart and bounded, a process group of its own that is
// ended at the time limit, at an abort and when the instance or this process ends.
import type { ChildProcess } from "node:child_process"
import { markedBy, passedVariables } from "#ability/shell/environment.ts"
import { createGuard, type Guard } from "#ability/shell/guard.ts"
import * as Processes from "#ability/shell/processes.ts"
import { Instance } from "#kernel/instance.ts"
import * as Env from "#kernel/process/env.ts"
import { findProgram } from "#kernel/process/find-program.ts"
import { errorText } from "#util/error.ts"
import { createId } from "#util/id.ts"
import { childProcess } from "#util/process.ts"
import type { Command } from "./hook.ts"

export type Ran = {
  /** Undefined if it did not end by itself. */
  code: number | undefined
  stdout: string
  stderr: string
  /** Why it did not run to its end. */
  failure?: string | undefined
  /** There was more on stdout than is kept. */
  isCut?: boolean
}
/** `groups`: the process group of each hook that runs, and the mark of what it started. `tag` begins every mark. */
type Running = {
  tag: string
  groups: Map<number, string>
  guard: Guard
  shell?: string | undefined
  onExit: () => void
}

/** Bytes of stdout and of stderr. What comes after is read and dropped. */
const maxOutput = 256 << 10
/** Milliseconds that the output may stay open after the end: a process in the background may hold it. */
const grace = 500
/** A process that ends our processes if we are killed is worth its cost only for hooks that take longer. */
const guardAfter = 250

const running = Instance.state(
  (): Running => {
    const groups = new Map<number, string>()
    const onExit = () =>
      Processes.kill([...groups.keys()], (mark) => groups.values().some((one) => one === mark))
    process.setMaxListeners(process.getMaxListeners() + 1).on("exit", onExit)
    const tag = createId("hook")
    return { tag, groups, onExit, guard: createGuard(tag, () => [...groups.keys()]) }
  },
  async ({ groups, guard, onExit }) => {
    process.off("exit", onExit).setMaxListeners(process.getMaxListeners() - 1)
    await Promise.all([...groups].map(endHook))
    await guard.end()
  },
)

export async function runCommand(
  work: Command,
  options: { input: string; timeout: number; signal: AbortSignal },
): Promise<Ran> {
  const { timeout, signal } = options
  if (signal.aborted) return { code: undefined, stdout: "", stderr: "", failure: "it was aborted" }
  const own = running()
  const mark = createId("run")
  let child: ChildProcess
  try {
    child = start(work, { own, mark, pass: await passedVariables() })
  } catch (error) {
    return { code: undefined, stdout: "", stderr: "", failure: `it was not started: ${errorText(error)}` }
  }
  const [stdout, stderr] = [keepOutput(child.stdout!), keepOutput(child.stderr!)]
  // A hook need not read its input.
  child.stdin!.on("error", () => {})
  child.stdin!.end(options.input)
  const group = child.pid
  if (group !== undefined) own.groups.set(group, mark)
  let isGuarded = false
  const guarding = setTimeout(() => {
    isGuarded = true
    own.guard.changed()
  }, guardAfter)
  let failure: string | undefined
  const stop = (why: string) => {
    failure ??= why
    if (group !== undefined) void endHook([group, mark])
  }
  const late = setTimeout(stop, timeout, `it did not end within ${timeout / 1_000} s, and was ended`)
  const onAbort = () => stop("it was aborted")
  signal.addEventListener("abort", onAbort, { once: true })
  try {
    const ended = await endOf(child)
    failure ??= ended.failure
    const code = failure ? undefined : ended.code
    const [out, err] = [stdout(), stderr()]
    return { code, stdout: out.text, stderr: err.text, failure, isCut: out.isCut }
  } finally {
    clearTimeout(late)
    clearTimeout(guarding)
    signal.removeEventListener("abort", onAbort)
    if (group !== undefined) own.groups.delete(group)
    if (isGuarded) own.guard.changed()
  }
}

/** Ends a hook with everything that it started, also what left its process group. */
async function endHook([group, mark]: readonly [number, string]): Promise<void> {
  await Promise.all([Processes.endGroup(group), Processes.endMarked((one) => one === mark)])
}

/** The environment is the person's without our secrets, as for commands of the model. */
function start(
  work: Command,
  { own, mark, pass }: { own: Running; mark: string; pass: readonly string[] },
): ChildProcess {
  const { command, args, pluginRoot } = work
  const folders = {
    CLAUDE_PROJECT_DIR: Instance.worktree,
    VITAMIN_PROJECT_DIR: Instance.worktree,
    ...(pluginRoot ? { CLAUDE_PLUGIN_ROOT: pluginRoot } : {}),
  }
  const options = {
    cwd: Instance.directory,
    env: { ...Env.forCommand(pass), ...folders, ...markedBy(`${own.tag}/${mark}`) },
    detached: true,
    stdio: "pipe",
  } as const
  if (args) {
    const [file = "", ...words] = [command, ...args].map((word) => withFolders(word, folders))
    return childProcess().spawn(file, words, options)
  }
  own.shell ??= findProgram(["bash", "sh"])
  if (!own.shell) throw new Error("there is no bash or sh on PATH")
  return childProcess().spawn(own.shell, ["-c", command], options)
}

/** Replaces `${CLAUDE_PROJECT_DIR}` where no shell does. A shell has the variable: the name of a folder must not become a
 * part of its command. */
function withFolders(text: string, folders: Record<string, string>): string {
  return text.replaceAll(/\$\{(\w+)\}/g, (whole, name: string) => folders[name] ?? whole)
}

/** The exit, and then the end of the output; but a process in the background is not waited for. */
function endOf(child: ChildProcess): Promise<{ code?: number | undefined; failure?: string }> {
  return new Promise((resolve) => {
    child.once("error", (error) => resolve({ failure: `it was not started: ${errorText(error)}` }))
    child.once("exit", (code, signal) => {
      const end = code === null ? { failure: `it was ended by ${signal}` } : { code }
      const timer = setTimeout(finish, grace)
      child.once("close", finish)
      function finish() {
        clearTimeout(timer)
        for (const stream of [child.stdout, child.stderr]) stream?.destroy()
        resolve(end)
      }
    })
  })
}

function keepOutput(stream: NodeJS.ReadableStream): () => { text: string; isCut: boolean } {
  const chunks: Buffer[] = []
  let bytes = 0
  stream.on("data", (chunk: Buffer) => {
    const left = maxOutput - bytes
    bytes += chunk.length
    if (left > 0) chunks.push(chunk.subarray(0, left))
  })
  stream.on("error", () => {})
  return () => ({ text: Buffer.concat(chunks).toString("utf8"), isCut: bytes > maxOutput })
}
