// The one owner of node-llama-cpp, which is not installed with the program: it is large, and few need it. A model runs in
// a process of its own, which starts with the first request and ends after some time without one.
import type { ChildProcess } from "node:child_process"
import { statSync } from "node:fs"
import * as OptionalPackage from "#kernel/process/optional-package.ts"
import { NamedError } from "#util/error.ts"
import { orAborted } from "#util/wait.ts"
import { readGgufHeader } from "./gguf-header.ts"
import type { Completion, Start, Task } from "./llama-process.ts"
import { ask, LlamaFailed, type Reply, startLlama, stop } from "./start-llama.ts"

export type LlamaConfig = {
  /** The GGUF file. */
  path: string
  use: Start["use"]
  /** Size of its context in tokens. */
  context: number
  gpu?: Start["gpu"]
}
type CompletionRequest = Completion & {
  signal?: AbortSignal
  /** Gets each piece of the answer, and now and then an empty one while the prompt is read. */
  onToken?: (text: string) => void
}
type CompletionResult = {
  text: string
  finish: "stop" | "length"
  promptTokens: number
  tokens: number
}
export type Llama = Readonly<{
  contextSize: number
  /** Throws `LlamaMissing`, `GgufInvalid`, `GgufTooLarge`, `LlamaFailed`. */
  complete(request: CompletionRequest): Promise<CompletionResult>
  countTokens(text: string, signal?: AbortSignal): Promise<number>
  /** One vector for each text; long texts are cut. */
  embed(texts: readonly string[]): Promise<Float32Array[]>
  /** The process of the model, while there is one. */
  pid(): number | undefined
  /** Must be called once for each `loadLlama`. The last call for a model ends its process. */
  close(): Promise<void>
}>

class LlamaMissing extends NamedError {
  constructor() {
    super(
      "Llama.Missing",
      `GGUF models cannot be run yet; node-llama-cpp is not installed. This adds it: ${installCommand()}`,
    )
  }
}

const library = { name: "node-llama-cpp", version: "3.22.1", folder: "llama" }
/** Milliseconds that an unused model stays loaded. */
const usualIdle = 120_000

// One process for each model: a server with ten projects must not load it ten times.
const running = new Map<string, { llama: Llama; users: number }>()

/** The main file of the library: installed beside this program, or by `installCommand` in the data folder. */
export function findLlama(): string | undefined {
  return OptionalPackage.find(library)
}

export function installCommand(): string {
  return OptionalPackage.installCommand(library)
}

/** The process starts with the first request. */
export function loadLlama(config: LlamaConfig, idle = usualIdle): Llama {
  const { path, use, context, gpu = false } = config
  // A file that was replaced is another model.
  const { size, mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? {}
  const key = JSON.stringify([path, size, mtimeMs, use, context, gpu])
  const shared = running.get(key) ?? { llama: createLlama({ path, use, context, gpu }, idle), users: 0 }
  running.set(key, shared)
  shared.users++
  let isClosed = false
  async function close(): Promise<void> {
    if (isClosed) return
    isClosed = true
    shared.users--
    if (shared.users) return
    running.delete(key)
    await shared.llama.close()
  }
  return Object.freeze({ ...shared.llama, close })
}

function createLlama(wanted: Omit<Start, "library">, idle: number): Llama {
  let child: ChildProcess | undefined
  let timer: NodeJS.Timeout | undefined
  let last: Promise<void> = Promise.resolve()
  /** The state of the file when it was first loaded. A file that was replaced is another model. */
  let seen: string | undefined
  const closed = new AbortController()

  /** One request at a time. A caller that gives up stops waiting; the next one waits until the model is free. */
  function inTurn(task: Task, options: { onText?: (text: string) => void; signal?: AbortSignal } = {}) {
    const { signal } = options
    const turn = last.then(async (): Promise<Reply> => {
      signal?.throwIfAborted()
      clearTimeout(timer)
      try {
        return await ask(await engine(), task, options)
      } finally {
        timer = setTimeout(() => void end(), idle).unref()
      }
    })
    last = turn.then(
      () => {},
      () => {},
    )
    return signal ? orAborted(turn, signal) : turn
  }

  async function engine(): Promise<ChildProcess> {
    if (closed.signal.aborted) throw new LlamaFailed("it was closed")
    if (child && child.exitCode === null && child.signalCode === null) return child
    const { size, modified } = readGgufHeader(wanted.path)
    seen ??= `${size} ${modified}`
    if (seen !== `${size} ${modified}`) throw new LlamaFailed(`${JSON.stringify(wanted.path)} has changed`)
    const found = findLlama()
    if (!found) throw new LlamaMissing()
    const started = await startLlama({ ...wanted, library: found }, closed.signal)
    child = started
    if (!closed.signal.aborted) return started
    await end()
    throw new LlamaFailed("it was closed")
  }

  async function end(): Promise<void> {
    clearTimeout(timer)
    const ending = child
    child = undefined
    if (ending) await stop(ending)
  }

  async function complete({ signal, onToken, ...task }: CompletionRequest): Promise<CompletionResult> {
    let text = ""
    const onText = (piece: string) => {
      text += piece
      if (!signal?.aborted) onToken?.(piece)
    }
    const reply = await inTurn({ complete: task }, { onText, ...(signal ? { signal } : {}) })
    const { finish, ...counts } = reply.done!
    return { text, finish: finish === "length" ? "length" : "stop", ...counts }
  }

  async function close(): Promise<void> {
    closed.abort()
    await end()
    await last
  }

  return Object.freeze({
    contextSize: wanted.context,
    complete,
    countTokens: async (text: string, signal?: AbortSignal) =>
      (await inTurn({ count: text }, signal ? { signal } : {})).count!,
    embed: async (texts: readonly string[]) => (await inTurn({ embed: [...texts] })).vectors!,
    pid: () => child?.pid,
    close,
  })
}
