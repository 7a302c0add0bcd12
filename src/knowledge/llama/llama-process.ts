// Runs llama.cpp in a process of its own, so that a crash, a hang or lack of memory does not affect the program, and
// all memory is freed at the end. This file imports no other file of ours, because a shared chunk of the bundle could
// start the program itself.
import { availableParallelism } from "node:os"
import { pathToFileURL } from "node:url"

export type Start = {
  /** The main file of node-llama-cpp. */
  library: string
  /** The GGUF file. */
  path: string
  use: "completion" | "embedding"
  context: number
  gpu: "auto" | false
}
export type Completion = {
  prompt: string
  stop: string[]
  maxTokens: number
  temperature?: number | undefined
  topK?: number | undefined
  topP?: number | undefined
  seed?: number | undefined
}
export type Task =
  | { start: Start }
  | { complete: Completion }
  | { count: string }
  | { embed: string[] }
  | { abort: true }
export type Answer =
  | { ready: { contextSize: number; dimensions: number } }
  /** Empty while the prompt is read. */
  | { text: string }
  /** `length`: the limit of tokens, or the context, is full. */
  | { done: { finish: "stop" | "length" | "aborted"; promptTokens: number; tokens: number } }
  | { count: number }
  | { vectors: Float32Array[] }
  | { error: string }

/** The used part of node-llama-cpp, which is not installed with the program. */
type Token = number
type Sequence = {
  nextTokenIndex: number
  adaptStateToTokens(tokens: Token[], allowShift: boolean): Promise<void>
  evaluate(tokens: Token[], options: object): AsyncIterable<Token>
  evaluateWithoutGeneratingNewTokens(tokens: Token[]): Promise<void>
}
type Model = {
  tokens: { bos: Token | null; shouldPrependBosToken: boolean }
  embeddingVectorSize: number
  tokenize(text: string, specialTokens: boolean): Token[]
  detokenize(tokens: Token[], specialTokens: boolean, last: Token[]): string
  createContext(options: object): Promise<{ contextSize: number; getSequence(): Sequence }>
  createEmbeddingContext(options: object): Promise<{
    getEmbeddingFor(tokens: Token[]): Promise<{ vector: readonly number[] }>
  }>
}
type Library = { getLlama(options: object): Promise<{ loadModel(options: object): Promise<Model> }> }
type Engine = {
  model: Model
  contextSize: number
  sequence?: Sequence
  vectorOf?: (tokens: Token[]) => Promise<Float32Array>
}

/** Tokens of a prompt that are read before the next check for an abort. */
const batch = 512

/** The URL of this file, bundled or not, and the argument that makes it serve. */
export const location: string = import.meta.url
export const mark = "--run-llama"

if (process.send && process.argv[2] === mark) serve()

function serve(): void {
  let engine: Engine | undefined
  let abort = new AbortController()
  // The parent process is gone.
  process.on("disconnect", () => process.exit())
  process.on("message", async (task: Task) => {
    if ("abort" in task) return abort.abort()
    try {
      if ("start" in task) {
        engine = await start(task.start)
        const { contextSize, model } = engine
        return send({ ready: { contextSize, dimensions: model.embeddingVectorSize } })
      }
      if (!engine) return send({ error: "no model is loaded" })
      if ("count" in task) return send({ count: tokensOf(engine.model, task.count).length })
      if ("embed" in task) return send({ vectors: await embed(engine, task.embed) })
      abort = new AbortController()
      send(await complete(engine, task.complete, abort.signal))
    } catch (error) {
      send({ error: error instanceof Error ? error.message : String(error) })
    }
  })
}

async function start({ library, path, use, context, gpu }: Start): Promise<Engine> {
  const { getLlama } = (await import(pathToFileURL(library).href)) as Library
  // Usually half of the logical cores are physical. Threads spin while they wait for each other, so there must not be
  // more threads than physical cores.
  const threads = Math.max(1, Math.floor(availableParallelism() / 2))
  const llama = await getLlama({
    gpu,
    build: "never",
    skipDownload: true,
    progressLogs: false,
    logLevel: "disabled",
    maxThreads: threads,
  })
  const model = await llama.loadModel({ modelPath: path })
  if (use === "embedding") {
    const made = await model.createEmbeddingContext({ contextSize: context, threads })
    const vectorOf = async (tokens: Token[]) => Float32Array.from((await made.getEmbeddingFor(tokens)).vector)
    return { model, contextSize: context, vectorOf }
  }
  const made = await model.createContext({ contextSize: context, sequences: 1, threads })
  return { model, contextSize: made.contextSize, sequence: made.getSequence() }
}

function tokensOf(model: Model, text: string): Token[] {
  const { bos, shouldPrependBosToken } = model.tokens
  const tokens = model.tokenize(text, true)
  return shouldPrependBosToken && bos !== null ? [bos, ...tokens] : tokens
}

async function embed({ model, vectorOf, contextSize }: Engine, texts: string[]): Promise<Float32Array[]> {
  const vectors: Float32Array[] = []
  for (const text of texts) {
    const tokens = model.tokenize(text, false).slice(0, contextSize - 2)
    vectors.push(tokens.length ? await vectorOf!(tokens) : new Float32Array(model.embeddingVectorSize))
  }
  return vectors
}

async function complete(engine: Engine, task: Completion, signal: AbortSignal): Promise<Answer> {
  const { model, contextSize } = engine
  const sequence = engine.sequence!
  const tokens = tokensOf(model, task.prompt)
  if (tokens.length >= contextSize)
    throw new Error(`the prompt has ${tokens.length} tokens of ${contextSize}`)
  const most = Math.min(task.maxTokens, contextSize - tokens.length)
  // The beginning that the prompt shares with the previous one is not evaluated again. At least one token must be left
  // to evaluate.
  await sequence.adaptStateToTokens(tokens.slice(0, -1), false)
  const writer = createWriter(model, { stop: task.stop, before: tokens.slice(-8) })
  const { temperature = 0, topK, topP, seed } = task
  const done = (finish: "stop" | "length" | "aborted"): Answer => {
    writer.end()
    return { done: { finish, promptTokens: tokens.length, tokens: writer.tokens() } }
  }
  while (tokens.length - sequence.nextTokenIndex > batch) {
    const from = sequence.nextTokenIndex
    await sequence.evaluateWithoutGeneratingNewTokens(
      tokens.slice(from, Math.min(from + batch, tokens.length - 1)),
    )
    if (signal.aborted) return done("aborted")
    send({ text: "" })
  }
  for await (const token of sequence.evaluate(tokens.slice(sequence.nextTokenIndex), {
    temperature,
    ...(topK === undefined ? {} : { topK }),
    ...(topP === undefined ? {} : { topP }),
    ...(seed === undefined ? {} : { seed }),
  })) {
    if (signal.aborted) return done("aborted")
    if (writer.add(token)) return done("stop")
    if (writer.tokens() >= most) return done("length")
  }
  return done("stop")
}

/** Sends text as it comes, but holds back an incomplete character and what may be the beginning of a stop sequence. */
function createWriter(model: Model, options: { stop: string[]; before: Token[] }) {
  const { stop, before } = options
  let tokens = 0
  let pending: Token[] = []
  let last = before
  let held = ""
  let isOver = false

  /** Returns true after a stop sequence. */
  function add(token: Token): boolean {
    tokens++
    pending.push(token)
    const piece = model.detokenize(pending, true, last)
    if (piece.endsWith("\ufffd") && pending.length < 4) return false
    last = [...last, ...pending].slice(-8)
    pending = []
    held += piece
    const at = Math.min(
      ...stop.map((one) => (held.includes(one) ? held.indexOf(one) : Number.POSITIVE_INFINITY)),
    )
    isOver = at !== Number.POSITIVE_INFINITY
    flush(isOver ? at : held.length - longestBeginning(held, stop))
    return isOver
  }

  function end(): void {
    if (!isOver) flush(held.length)
  }

  function flush(length: number): void {
    if (length > 0) send({ text: held.slice(0, length) })
    held = held.slice(length)
  }

  return { add, end, tokens: () => tokens }
}

/** The length of the longest end of the text that is the beginning of a stop sequence. */
function longestBeginning(text: string, stop: string[]): number {
  let longest = 0
  for (const one of stop)
    for (let length = Math.min(one.length - 1, text.length); length > longest; length--)
      if (text.endsWith(one.slice(0, length))) longest = length
  return longest
}

function send(answer: Answer): void {
  process.send?.(answer)
}
