// The output of a command on its way to the model and to people: cleaned, redacted, bounded, stored. A background job
// is read in parts: each part is what came since the one before.
import { createOutput, type Sink } from "#ability/call/output.ts"
import * as SecretFiles from "#kernel/process/secret-files.ts"
import { createRedactor, type Piece } from "#kernel/secret/redactor.ts"
import { createCleaner } from "./clean-output.ts"
import { type Colors, createColors } from "./colors.ts"

export type Record = {
  take(chunk: Buffer): Promise<void>
  /** The text since the last part, at most 50 KB with `note` as its last line. While the command runs (`isOver` is
   * false), an end that may be the start of a secret waits for the next part. */
  cut(note?: string, isOver?: boolean): Promise<Part>
}
/** The text for the model, and for people the colours that the program gave it. */
export type Part = { text: string; colors?: Colors }

const newline = 10
const reportPause = 100
const maxReport = 4_000

export function createRecord(options: {
  sessionId: string
  callId: string
  /** Gets the newest output, at most ten times a second. */
  report?: ((text: string) => void) | undefined
}): Record {
  const colors = createColors()
  const cleaner = createCleaner(colors)
  const redactor = createRedactor()
  const reporter = options.report && createReporter(options.report)
  let output: Sink | undefined
  let last = newline
  let queue: Promise<unknown> = Promise.resolve()

  async function write(pieces: Piece[]) {
    for (const { bytes, length } of pieces) {
      colors.place(length, bytes.length)
      reporter?.add(bytes)
      last = bytes.at(-1)!
      output ??= createOutput(options)
      await output.write(bytes)
    }
  }

  function redact(pieces: Buffer[]): Piece[] {
    if (pieces.length) SecretFiles.register()
    return pieces.flatMap(redactor.write)
  }

  function take(chunk: Buffer): Promise<void> {
    const done = queue.then(() => write(redact(cleaner.write(chunk))))
    queue = done
    return done
  }

  function cut(note = "", isOver = true): Promise<Part> {
    const done = queue.then(async () => {
      await write(redact(cleaner.flush()))
      if (isOver) await write(redactor.flush())
      reporter?.flush()
      const [whole, ended] = [output, last === newline]
      output = undefined
      last = newline
      if (whole && note) await whole.write(ended ? note : `\n${note}`)
      if (!whole) return { text: note }
      const text = await whole.finish()
      const styles = colors.take(text, whole.cut())
      return { text, ...(styles ? { colors: styles } : {}) }
    })
    queue = done
    return done
  }

  return Object.freeze({ take, cut })
}

function createReporter(report: (text: string) => void) {
  let waiting = ""
  let timer: NodeJS.Timeout | undefined
  function flush() {
    clearTimeout(timer)
    timer = undefined
    if (waiting) report(waiting)
    waiting = ""
  }
  function add(piece: Buffer) {
    waiting += piece.subarray(-maxReport).toString()
    if (waiting.length > maxReport) waiting = waiting.slice(-maxReport)
    timer ??= setTimeout(flush, reportPause)
  }
  return { add, flush }
}
