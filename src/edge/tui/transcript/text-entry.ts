// An answer as it streams, and what the model thinks: one line, of which the whole text can be shown.
import { createMarkdown, type MarkdownOptions } from "#edge/tui/markdown/markdown.ts"
import type { Line, View } from "#edge/tui/screen/line.ts"
import { safe, safeLine } from "#edge/tui/screen/safe.ts"
import { cutTo, wrapTo } from "#edge/tui/screen/width.ts"
import type { Entry } from "./entries.ts"
import { expandHint, type Folded, wholeLines } from "./fold.ts"
import { secondsOf } from "./seconds.ts"

export type TextEntry = Entry & {
  add(text: string, time: number): void
  end(): void
}

export function createAnswer(view: () => View, options: MarkdownOptions): TextEntry {
  const markdown = createMarkdown(view, options)
  /** Deltas are short and many: what came since the last frame is worked on at once. */
  let unread = ""
  /** The open block as it was last drawn. */
  let drawn: { lines: Line[]; columns: number } | undefined

  function readAll(): void {
    if (unread) markdown.add(unread)
    unread = ""
  }

  function tail({ columns }: View): Line[] {
    readAll()
    if (markdown.isDone()) return []
    if (drawn?.columns !== columns) drawn = { lines: markdown.open(), columns }
    return drawn.lines
  }

  return {
    kind: "answer",
    add(text) {
      unread += text
      drawn = undefined
    },
    end() {
      readAll()
      markdown.end()
    },
    isDone: markdown.isDone,
    take() {
      readAll()
      const lines = markdown.take()
      if (lines.length) drawn = undefined
      return lines
    },
    tail,
  }
}

/** `fold` keeps the whole text for later. */
export function createThought(fold: (folded: Folded) => void): TextEntry {
  let text = ""
  let [first, last] = [0, 0]
  let isEnded = false
  let isTaken = false
  const words = () => {
    const seconds = secondsOf(last - first)
    return seconds ? `thought for ${seconds}` : "thought"
  }

  return {
    kind: "thought",
    add(more, time) {
      first ||= time
      last = time
      text += more
    },
    end() {
      if (isEnded) return
      isEnded = true
      if (text.trim() !== "")
        fold({ title: words(), lines: (view) => wholeLines(safe(text.trim()).split("\n"), view) })
    },
    isDone: () => isEnded,
    take(view) {
      const { columns, paint } = view
      if (!isEnded || isTaken || text.trim() === "") return []
      isTaken = true
      return [paint("dim", cutTo(`∴ ${words()}${expandHint(view)}`, columns))]
    },
    tail({ columns, paint }) {
      if (isEnded) return []
      const line = safeLine(text.slice(-2_000).trimEnd().split("\n").at(-1) ?? "")
      return [paint("dim", cutTo(`∴ thinking: ${line}`, columns))]
    },
  }
}

/** What a person wrote, behind a bar. */
export function userLines(text: string, { columns, paint }: View): Line[] {
  const bar = paint("accent", "▌ ")
  return safe(text.trim())
    .split("\n")
    .flatMap((line) => wrapTo(line, columns - 2))
    .map((line) => bar + paint("user", line))
}
