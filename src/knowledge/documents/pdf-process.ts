// Reads the text of PDF files, in a process of its own: a file can keep the library busy for hours, or make it allocate all
// memory. The one place that loads unpdf. It imports no other file of ours, because a shared chunk of the bundle could start
// the program itself.
import { Worker } from "node:worker_threads"

/** `library`: the main file of unpdf. `milliseconds`: no further page is begun after it. */
export type Task = {
  library: string
  bytes: Uint8Array
  maxPages: number
  maxChars: number
  milliseconds: number
}
/** `pages`: the lines of each page that was read; `total`: how many there are. */
export type Answer = { pages: string[][]; total: number } | { problem: string }

/** The used part of unpdf. */
type Item = { str?: string; hasEOL?: boolean }
type Page = { getTextContent(): Promise<{ items: Item[] }>; cleanup(): void }
type Pdf = {
  numPages: number
  getPage(number: number): Promise<Page>
  loadingTask: { destroy(): Promise<void> }
}
type Library = { getDocumentProxy(bytes: Uint8Array, options: object): Promise<Pdf> }

/** The URL of this file, bundled or not, and the argument that makes it serve. The second argument is the limit of its
 * memory in bytes. */
export const location: string = import.meta.url
export const mark = "--read-pdf"
/** Ends a process that needs more memory than it may. */
export const outOfMemory = "SIGTERM"

if (process.send && process.argv[2] === mark) serve(Number(process.argv[3]))

function serve(maxMemory: number): void {
  // The parent process is gone.
  process.on("disconnect", () => process.exit())
  watchMemory(maxMemory)
  process.on("message", (task: Task) => {
    read(task).then(
      (answer) => process.send!(answer),
      (error: unknown) => process.send!({ problem: problemOf(error) } satisfies Answer),
    )
  })
}

/** In a thread: the library blocks the main one while it decompresses. Decompressed bytes are not on the heap, so that no
 * option of Node limits them. */
function watchMemory(maxMemory: number): void {
  const code = `setInterval(() => { if (process.memoryUsage.rss() > ${maxMemory}) process.kill(process.pid, "${outOfMemory}") }, 20)`
  new Worker(code, { eval: true }).unref()
}

async function read({ library, bytes, maxPages, maxChars, milliseconds }: Task): Promise<Answer> {
  const end = performance.now() + milliseconds
  const { getDocumentProxy } = (await import(library)) as Library
  const pdf = await getDocumentProxy(new Uint8Array(bytes), {
    isEvalSupported: false,
    useSystemFonts: false,
    disableFontFace: true,
    verbosity: 0,
  })
  try {
    const pages: string[][] = []
    let chars = 0
    while (pages.length < Math.min(pdf.numPages, maxPages) && chars < maxChars && performance.now() < end) {
      const lines = await linesOf(pdf, pages.length + 1, maxChars - chars)
      pages.push(lines)
      for (const line of lines) chars += line.length + 1
    }
    return { pages, total: pdf.numPages }
  } finally {
    await pdf.loadingTask.destroy()
  }
}

async function linesOf(pdf: Pdf, number: number, maxChars: number): Promise<string[]> {
  const page = await pdf.getPage(number)
  const { items } = await page.getTextContent()
  page.cleanup()
  let text = ""
  for (const { str = "", hasEOL } of items) {
    if (text.length > maxChars) break
    text += hasEOL ? `${str}\n` : str
  }
  return text
    .slice(0, maxChars)
    .split("\n")
    .map((line) => line.replace(/[\s\p{Cc}]+/gu, " ").trim())
}

function problemOf(error: unknown): string {
  const { name, message } = error instanceof Error ? error : new Error(String(error))
  if (name === "PasswordException") return "it is encrypted, and reading it needs a password"
  return `it is not a valid PDF file (${message.replace(/\.$/, "").slice(0, 200)})`
}
