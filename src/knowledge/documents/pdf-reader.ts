// Reads PDF files within limits of memory, time, pages and text. A file that exceeds a limit ends the process that reads it,
// and the next file gets a new one.
import type { ChildProcess } from "node:child_process"
import { fileURLToPath } from "node:url"
import * as OptionalPackage from "#kernel/process/optional-package.ts"
import { childProcess } from "#util/process.ts"
import type { Answer, Task } from "./pdf-process.ts"

export type PdfReader = ReturnType<typeof createPdfReader>

/** Not installed with the program. */
export const pdfPackage = { name: "unpdf", version: "1.8.1", folder: "pdf" }
const limits = { maxPages: 2_000, maxChars: 4 << 20, milliseconds: 10_000 }
const maxMemory = 600 << 20
/** Milliseconds. A process that has not answered by then is killed. */
const maxWait = 20_000

/** Whether PDF files can be read. */
export function hasPdf(): boolean {
  return OptionalPackage.find(pdfPackage) !== undefined
}

/** Call `close` at the end. */
export function createPdfReader() {
  let child: ChildProcess | undefined

  /** The lines of each page. Undefined without the package. */
  async function read(bytes: Uint8Array, signal?: AbortSignal): Promise<Answer | undefined> {
    const library = OptionalPackage.find(pdfPackage)
    if (library === undefined) return undefined
    // It may have ended since its last answer, by its own limit or by the system's.
    if (!child?.connected || child.exitCode !== null || child.signalCode !== null) child = await start()
    return ask(child, { library, bytes, ...limits }, signal)
  }

  function close(): void {
    child?.kill("SIGKILL")
    child = undefined
  }

  return Object.freeze({ read, close })
}

async function start(): Promise<ChildProcess> {
  const { location, mark } = await import("./pdf-process.ts")
  const child = childProcess().fork(fileURLToPath(location), [mark, String(maxMemory)], {
    env: {},
    // More than the process may use, so that its own limit is reached first.
    execArgv: [`--max-old-space-size=${(2 * maxMemory) >> 20}`],
    serialization: "advanced",
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  })
  // Without a listener, an error of the child process would end the program.
  child.on("error", () => {})
  return child
}

/** Ends with an answer, or when the process has ended. */
async function ask(child: ChildProcess, task: Task, signal: AbortSignal | undefined): Promise<Answer> {
  const { outOfMemory } = await import("./pdf-process.ts")
  const { promise, resolve } = Promise.withResolvers<Answer>()
  let isLate = false
  const died = (code: number | null, by: NodeJS.Signals | null) => {
    if (isLate) resolve({ problem: `reading it took more than ${maxWait / 1_000} seconds` })
    else if (by === outOfMemory) resolve({ problem: `reading it needs more than ${maxMemory >> 20} MB` })
    else resolve({ problem: `reading it failed (${by ?? `code ${code}`})` })
  }
  const kill = () => child.kill("SIGKILL")
  const late = setTimeout(() => {
    isLate = true
    kill()
  }, maxWait)
  child.once("message", resolve)
  child.once("exit", died)
  signal?.addEventListener("abort", kill, { once: true })
  try {
    if (signal?.aborted) kill()
    else child.send(task, (error) => error && resolve({ problem: `reading it failed (${error.message})` }))
    const answer = await promise
    signal?.throwIfAborted()
    return answer
  } finally {
    clearTimeout(late)
    child.off("message", resolve)
    child.off("exit", died)
    signal?.removeEventListener("abort", kill)
  }
}
