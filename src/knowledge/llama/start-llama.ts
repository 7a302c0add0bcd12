// Starts the process of a model and talks to it: one request at a time, answered by one or more messages.
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import * as Env from "#kernel/process/env.ts"
import { NamedError } from "#util/error.ts"
import type { Answer, Start, Task } from "./llama-process.ts"

/** The last message of an answer. */
export type Reply = Partial<{
  ready: { contextSize: number; dimensions: number }
  done: Extract<Answer, { done: unknown }>["done"]
  count: number
  vectors: Float32Array[]
}>

export class LlamaFailed extends NamedError {
  constructor(reason: string) {
    super("Llama.Failed", `The model could not be run: ${reason.replace(/\.*$/, "")}.`, { reason })
  }
}

/** Milliseconds that it may take to stop an answer before its process is killed. */
const grace = 2_000
/** Variables by which graphics libraries are found. The process gets no others. */
const needed = ["PATH", "LD_LIBRARY_PATH", "HOME"]

/** `signal` only aborts the start; afterwards `stop` ends the process. */
export async function startLlama(start: Start, signal: AbortSignal): Promise<ChildProcess> {
  const { location, mark } = await import("./llama-process.ts")
  const env = needed.flatMap((name) => (Env.get(name) ? [[name, Env.get(name)]] : []))
  const child = fork(fileURLToPath(location), [mark], {
    env: Object.fromEntries(env),
    execArgv: [],
    serialization: "advanced",
    // The library prints remarks about a model to stdout and stderr.
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  })
  // Without a listener, an error of the child process would end the program.
  child.on("error", () => {})
  const end = () => child.kill("SIGKILL")
  signal.addEventListener("abort", end, { once: true })
  try {
    await ask(child, { start })
    return child
  } catch (error) {
    await stop(child)
    throw error
  } finally {
    signal.removeEventListener("abort", end)
  }
}

/** Throws `LlamaFailed`. An aborted request ends when the model has stopped, or its process is killed. */
export async function ask(
  child: ChildProcess,
  task: Task,
  options: { onText?: (text: string) => void; signal?: AbortSignal } = {},
): Promise<Reply> {
  const { onText, signal } = options
  const { promise, resolve, reject } = Promise.withResolvers<Reply>()
  let late: NodeJS.Timeout | undefined
  const hear = (answer: Answer) => {
    if ("text" in answer) return onText?.(answer.text)
    if ("error" in answer) return reject(new LlamaFailed(answer.error))
    resolve(answer)
  }
  const died = (code: number | null, by: NodeJS.Signals | null) =>
    reject(new LlamaFailed(`its process ended unexpectedly (${by ?? `code ${code}`})`))
  const abort = () => {
    child.send({ abort: true } satisfies Task, () => {})
    late = setTimeout(() => child.kill("SIGKILL"), grace)
  }
  child.on("message", hear)
  child.once("exit", died)
  signal?.addEventListener("abort", abort, { once: true })
  keepAlive(child, true)
  try {
    if (child.exitCode !== null || child.signalCode !== null) died(child.exitCode, child.signalCode)
    else child.send(task, (error) => error && reject(new LlamaFailed(error.message)))
    if (signal?.aborted) abort()
    return await promise
  } finally {
    clearTimeout(late)
    child.off("message", hear)
    child.off("exit", died)
    signal?.removeEventListener("abort", abort)
    keepAlive(child, false)
  }
}

export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
  const ended = once(child, "exit")
  keepAlive(child, true)
  child.kill("SIGKILL")
  await ended
}

/** An idle process must not keep the program from ending. */
function keepAlive(child: ChildProcess, isNeeded: boolean): void {
  child[isNeeded ? "ref" : "unref"]()
  child.channel?.[isNeeded ? "ref" : "unref"]()
}
