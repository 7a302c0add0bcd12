// The process in which a model runs, and talking to it: one question at a time, the answer in one or many messages.
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import * as Env from "#kernel/process/env.ts"
import { NamedError } from "#util/error.ts"
import type { Answer, Start, Task } from "./llama-process.ts"

/** The last message about a question. */
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

/** How long it may take to stop in the middle of an answer, in milliseconds, before its process is ended. */
const grace = 2_000
/** What graphics libraries are found by. Nothing else of the person's environment is the model's business. */
const needed = ["PATH", "LD_LIBRARY_PATH", "HOME"]

/** The signal ends it while it starts; after that it is `stop` that does. */
export async function startLlama(start: Start, signal: AbortSignal): Promise<ChildProcess> {
  const { location, mark } = await import("./llama-process.ts")
  const env = needed.flatMap((name) => (Env.get(name) ? [[name, Env.get(name)]] : []))
  const child = fork(fileURLToPath(location), [mark], {
    env: Object.fromEntries(env),
    execArgv: [],
    serialization: "advanced",
    // The library prints its remarks about a model there.
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  })
  // One that dies while nobody waits for it must not take the program along.
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

/** Throws `LlamaFailed`. An aborted question ends when the model has stopped, or its process is ended. */
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
  hold(child, true)
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
    hold(child, false)
  }
}

export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
  const ended = once(child, "exit")
  hold(child, true)
  child.kill("SIGKILL")
  await ended
}

/** While it rests it keeps nobody waiting: a program that is done ends at once. */
function hold(child: ChildProcess, isNeeded: boolean): void {
  child[isNeeded ? "ref" : "unref"]()
  child.channel?.[isNeeded ? "ref" : "unref"]()
}
