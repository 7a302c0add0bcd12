// Where a run is shown: the answer on stdout, everything else in lines on stderr. Both may be the same terminal, so a line
// on stderr ends the line that stdout has begun, and the status line is erased before either writes.

import * as Tool from "#ability/tool/tool.ts"
import * as Bus from "#kernel/bus/bus.ts"
import * as Env from "#kernel/process/env.ts"
import * as Log from "#kernel/process/log.ts"
import { safeText } from "./safe-text.ts"
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

type StatusLine = Readonly<{ clear(): void; stop(): void }>

const none: StatusLine = Object.freeze({ clear() {}, stop() {} })
const eraseLine = "\r\u001b[K"
const interval = 1_000
const asked = new Set(["permission.requested", "elicitation.requested"])
const answered = new Set(["permission.replied", "elicitation.replied"])

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

/** One line at the bottom of a terminal while a run works: model, step, seconds, tokens, and the last line that a running
 * command printed. Without a terminal there is no such line. `mayDraw` says whether the cursor is at the start of a line; `status` is drawn again every second. */
function createStatusLine(options: { status(): string; mayDraw(): boolean; startLine(): void }): StatusLine {
  const { stderr } = process
  if (!stderr.isTTY || Env.get("TERM") === "dumb") return none
  const questions = new Set<string>()
  let isShown = false
  let printed = ""

  function draw(): void {
    // Nothing is drawn while a question is open.
    if (questions.size) return
    const line = [options.status(), printed].filter(Boolean).join(" · ")
    stderr.write(eraseLine + asciiMarks(fit(line, (stderr.columns || 80) - 1)))
    isShown = true
  }

  function clear(): void {
    if (isShown) stderr.write(eraseLine)
    isShown = false
    printed = ""
  }

  const timer = setInterval(() => {
    if (options.mayDraw()) draw()
  }, interval).unref()
  const unsubscribe = [
    Bus.subscribe(Tool.Progress, ({ text }) => {
      printed = lastLine(text) ?? printed
      if (!questions.size && !isShown) options.startLine()
      draw()
    }),
    // Subscribed by name: without MCP servers, the code for their questions is not loaded.
    Bus.subscribe("*", ({ type, payload }) => {
      const { id } = payload as { id: string }
      if (asked.has(type)) {
        questions.add(id)
        clear()
      }
      if (answered.has(type)) questions.delete(id)
    }),
  ]

  function stop(): void {
    clearInterval(timer)
    for (const each of unsubscribe) each()
    clear()
  }

  return Object.freeze({ clear, stop })
}

function lastLine(text: string): string | undefined {
  return text.trimEnd().split("\n").at(-1)?.replaceAll("\t", " ")
}

/** Characters outside ASCII may be two columns wide. */
function fit(line: string, columns: number): string {
  const safe = Log.escapeControls(line)
  const most = /^[ -~·]*$/.test(safe) ? columns : Math.floor(columns / 2)
  const characters = [...safe.slice(0, 2 * most + 2)]
  return characters.length > most ? `${characters.slice(0, most - 1).join("")}…` : characters.join("")
}
