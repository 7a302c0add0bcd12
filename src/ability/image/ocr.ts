// Reads text in images. The engine (Tesseract as WebAssembly with English data, without network) takes 0.2 s to start and
// 130 MB of memory: it stays for the next image, and ends if none comes.
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { Instance } from "#kernel/instance.ts"
import { errorText, NamedError } from "#util/error.ts"
import { orAborted } from "#util/wait.ts"
import { findOcr, OcrMissing } from "./find-ocr.ts"
import type { Format } from "./image-format.ts"
import type { Image } from "./load-image.ts"
import type { Answer, Task } from "./ocr-process.ts"
import { withoutExtras } from "./read-png.ts"

/** `confidence` goes from 0 to 100. */
type Reading = { text: string; confidence: number }
export type Ocr = Readonly<{
  /** Reads one image after the other. Throws `Failed`, or `OcrMissing` if the engine is not installed. */
  read(image: Image, signal: AbortSignal): Promise<Reading>
  /** The process of the engine, while there is one. */
  pid(): number | undefined
  dispose(): Promise<void>
}>
type Timing = { idle: number; limit: number }

/** In milliseconds: how long the engine waits for another image, and how long one may take. */
const usual: Timing = { idle: 30_000, limit: 120_000 }
/** The pixels of an 8K screen. For more the engine may need a gigabyte of memory. */
const maxPixels = 34_000_000

class Failed extends NamedError {
  constructor(reason: string) {
    super("Ocr.Failed", `The text of the image could not be read: ${reason}`, { reason })
  }
}

/** The engine of this instance. */
export const ofInstance = Instance.state(
  () => createOcr(),
  (ocr) => ocr.dispose(),
)

export function createOcr(timing: Partial<Timing> = {}): Ocr {
  const { idle, limit } = { ...usual, ...timing }
  let engine: ChildProcess | undefined
  let timer: NodeJS.Timeout | undefined
  let last: Promise<void> = Promise.resolve()

  async function read(image: Image, signal: AbortSignal): Promise<Reading> {
    const before = last
    const { promise, resolve } = Promise.withResolvers<void>()
    last = before.then(() => promise)
    try {
      await orAborted(before, signal)
      return await readNext(image, signal)
    } finally {
      resolve()
    }
  }

  async function readNext({ bytes, format }: Image, signal: AbortSignal): Promise<Reading> {
    signal.throwIfAborted()
    refuse(format)
    clearTimeout(timer)
    const late = AbortSignal.timeout(limit)
    try {
      const image = format.mimeType === "image/png" ? withoutExtras(bytes) : bytes
      const reading = await recognize(image, AbortSignal.any([signal, late]))
      timer = setTimeout(dispose, idle).unref()
      return reading
    } catch (error) {
      // The state of the engine is unknown, so the next image gets a new one.
      await dispose()
      signal.throwIfAborted()
      if (late.aborted) throw new Failed(`it took longer than ${limit / 1000} s.`)
      throw error
    }
  }

  async function recognize(image: Buffer, signal: AbortSignal): Promise<Reading> {
    if (!engine) await start(signal)
    const child = engine!
    hold(child, true)
    const answer = await ask(child, { image }, signal)
    hold(child, false)
    if ("text" in answer) return { text: answer.text.trim(), confidence: answer.confidence }
    throw new Failed(`${"error" in answer ? answer.error : "no answer came"}.`)
  }

  async function start(signal: AbortSignal): Promise<void> {
    const files = findOcr()
    if (!files) throw new OcrMissing()
    const child = await run()
    engine = child
    child.once("exit", () => {
      if (engine === child) engine = undefined
    })
    const answer = await ask(child, files, signal)
    if (!("ready" in answer))
      throw new Failed(`the engine did not start (${"error" in answer ? answer.error : "no answer came"}).`)
  }

  async function dispose(): Promise<void> {
    clearTimeout(timer)
    const child = engine
    engine = undefined
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, "exit")
    hold(child, true)
    child.kill("SIGKILL")
    await ended
  }

  return Object.freeze({ read, pid: () => engine?.pid, dispose })
}

function refuse({ mimeType, frames, width, height }: Format): void {
  if (width * height > maxPixels)
    throw new Failed(
      `it has ${width} × ${height} pixels, which is more than the ${maxPixels / 1e6} million that the engine can read.`,
    )
  if (mimeType === "image/webp" && frames > 1)
    throw new Failed("it is an animated WebP, which the engine cannot open. Save one of its frames as PNG.")
}

async function run(): Promise<ChildProcess> {
  const { location, mark } = await import("./ocr-process.ts")
  const child = fork(fileURLToPath(location), [mark], {
    env: {},
    execArgv: [],
    serialization: "advanced",
    // The engine prints warnings about images to stdout and stderr.
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  })
  // Without a listener, an error of an idle engine would end the program.
  child.on("error", () => {})
  return child
}

/** An idle engine does not keep the program from exiting. */
function hold(child: ChildProcess, isNeeded: boolean): void {
  child[isNeeded ? "ref" : "unref"]()
  child.channel?.[isNeeded ? "ref" : "unref"]()
}

/** The next message of the process. Its end counts as an error message. */
async function ask(child: ChildProcess, task: Task, signal: AbortSignal): Promise<Answer> {
  const over = new AbortController()
  const options = { signal: over.signal }
  const said = once(child, "message", options).then(([answer]) => answer as Answer)
  const died = once(child, "exit", options).then((): Answer => ({ error: "the engine ended" }))
  try {
    child.send(task, () => {})
    return await orAborted(Promise.race([said, died]), signal)
  } catch (error) {
    signal.throwIfAborted()
    return { error: errorText(error) }
  } finally {
    over.abort()
  }
}
