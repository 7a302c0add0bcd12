// Where a run is shown: the answer on stdout, everything else in lines on stderr. Both may be the same terminal, so a line
// on stderr ends the line that stdout has begun, and the status line is erased before either writes.
import { safeText } from "./safe-text.ts"
import { createStatusLine } from "./status-line.ts"
import { createMarkdownStyler } from "./style-markdown.ts"
import { asciiMarks, createWrapper, wrapLines } from "./wrap-text.ts"

export type Screen = Readonly<{
  /** Whether the answer is shown as it arrives. A pipe gets it when it is complete. */
  isLive: boolean
  /** A piece of the answer. */
  say(text: string): void
  /** A line about the progress. */
  note(line: string): void
  /** The answer has ended, or a question follows. */
  endLine(): void
  stop(): void
}>

export function createScreen(status: () => string): Screen {
  const { stdout, stderr } = process
  const isLive = stdout.isTTY === true
  const styler = isLive && stdout.hasColors() ? createMarkdownStyler() : undefined
  const wrapper = isLive ? createWrapper(() => stdout.columns) : undefined
  let isLineStart = true
  const statusLine = createStatusLine({ status, mayDraw: () => isLineStart, startLine })

  function write(text: string): void {
    if (text === "") return
    stdout.write(text)
    isLineStart = text.endsWith("\n")
  }

  function say(text: string): void {
    statusLine.clear()
    const shown = isLive ? safeText(text) : text
    const styled = styler ? asciiMarks(styler.add(shown)) : shown
    write(wrapper ? wrapper.add(styled) : styled)
  }

  function startLine(): void {
    if (wrapper) write(wrapper.add(styler?.end() ?? "") + wrapper.end())
    if (!isLineStart) stdout.write("\n")
    isLineStart = true
  }

  function endLine(): void {
    statusLine.clear()
    startLine()
  }

  function note(line: string): void {
    endLine()
    stderr.write(`${wrapLines(line)}\n`)
  }

  function stop(): void {
    statusLine.stop()
    startLine()
  }

  return Object.freeze({ isLive, say, note, endLine, stop })
}
