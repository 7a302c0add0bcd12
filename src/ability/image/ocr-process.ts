// The OCR engine in a process of its own: it may crash, hang or run out of memory without taking the program along, and
// all its memory goes with it. It imports nothing that the rest of the program imports: in a bundle that could be the
// program itself.
import { pathToFileURL } from "node:url"
import type { createWorker } from "tesseract.js"

export type Task =
  /** Where the engine is, and the folder of its English data. */
  { engine: string; data: string } | { image: Uint8Array }
export type Answer = { ready: true } | { text: string; confidence: number } | { error: string }

type Library = { createWorker: typeof createWorker }
type Worker = Awaited<ReturnType<typeof createWorker>>

/** Where a process finds this file, bundled or not, and what tells it to begin. */
export const location: string = import.meta.url
export const mark = "--read-images"

/** The newer of its two kinds of recognition, and the only one that the data is for. */
const neural = 1

if (process.send && process.argv[2] === mark) serve()

function serve(): void {
  let worker: Promise<Worker> | undefined
  // Whoever started it is gone.
  process.on("disconnect", () => process.exit())
  process.on("message", async (task: Task) => {
    if ("engine" in task) {
      worker = start(task)
      await worker
      return say({ ready: true })
    }
    // What goes wrong, the error handler has said.
    const result = await (await worker)?.recognize(Buffer.from(task.image)).catch(() => undefined)
    if (result) say({ text: result.data.text, confidence: result.data.confidence })
  })
}

async function start({ engine, data }: { engine: string; data: string }): Promise<Worker> {
  const library = (await import(pathToFileURL(engine).href)) as { default: Library }
  return library.default.createWorker("eng", neural, {
    langPath: data,
    // It would put its data into whatever folder we are in.
    cacheMethod: "none",
    gzip: true,
    // Without one it throws where nobody can catch. What fails while it starts is told nowhere else.
    errorHandler: (error: unknown) => say({ error: error instanceof Error ? error.message : String(error) }),
  })
}

function say(answer: Answer): void {
  process.send?.(answer)
}
