// The last stderr lines of a server, for the error about its end. Bounded, escaped and redacted.
import * as Log from "#kernel/process/log.ts"
import * as Secret from "#kernel/process/secret.ts"
import { createBoundedLines } from "#util/bounded-lines.ts"

const keptLines = 20
const lineLimit = 4_096
const shownLine = 300

export function createStderrTail(onLine: (line: string) => void): {
  push(chunk: Buffer): void
  text(): string
} {
  const kept: string[] = []
  const keep = (line: string) => {
    const shown = clean(line)
    if (!shown) return
    kept.push(shown)
    if (kept.length > keptLines) kept.shift()
    onLine(shown)
  }
  const lines = createBoundedLines({
    limit: lineLimit,
    onLine: keep,
    onCut: ({ head, bytes }) => keep(`${head}… (${bytes} bytes)`),
  })
  return Object.freeze({ push: lines.push, text: () => kept.join("\n") })
}

/** One line that a terminal and a log can show. */
export function clean(line: string): string {
  const text = Log.escapeControls(Secret.redact(line.trimEnd()))
  return text.length > shownLine ? `${text.slice(0, shownLine)}…` : text
}
