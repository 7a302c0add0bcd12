// Markdown for the terminal while it streams. Lines are finished as soon as nothing can change them; only the open block,
// whose size is bounded, is worked on again for a frame. The cost is linear in the text, whatever it is.
import type { Line, View } from "#edge/tui/screen/line.ts"
import { safe } from "#edge/tui/screen/safe.ts"
import { copyState, createState, type Paragraph, type State } from "./block.ts"
import { createHighlighter } from "./highlight.ts"
import type { Languages } from "./languages.ts"
import { showBlock } from "./show-block.ts"
import { closeContainers, closeLeaf, takeLine, type Work } from "./take-line.ts"

export type Markdown = Readonly<{
  add(text: string): void
  /** Nothing follows: the open block is finished as it is. */
  end(): void
  /** Whether every line is finished. */
  isDone(): boolean
  /** The finished lines since the last call. */
  take(): Line[]
  /** The open block as it would be if the text ended here. */
  open(): Line[]
}>

/** Bounds of the text that is kept open, in characters. */
const [leastOpen, mostOpen] = [200, 4_000]
/** Rows of the screen that the text cannot have. */
const otherRows = 4

export type MarkdownOptions = {
  languages: Languages
  /** Lines are there that had to wait for a language. */
  changed?(): void
  /** Is told how many characters each step works on; tests add them up. */
  count?(characters: number): void
}

export function createMarkdown(view: () => View, options: MarkdownOptions): Markdown {
  const { languages, changed = () => {}, count = () => {} } = options
  const state = createState()
  let finished: Line[] = []
  /** The line that has no end yet, and characters whose other half may follow. */
  let pending = ""
  let half = ""
  /** What came while a language was loaded. */
  let held: string | undefined
  let isEnding = false
  let isEnded = false
  const work = workOn(state, finishedLines)

  function finishedLines(lines: Line[]): void {
    for (const line of lines) finished.push(line)
  }

  function workOn(on: State, give: (lines: Line[]) => void): Work {
    return { state: on, show: (block) => give(showBlock(block, on, view())) }
  }

  function add(text: string): void {
    if (held !== undefined) {
      held += text
      return
    }
    const whole = takeWhole(half + text)
    half = whole.half
    const lines = whole.text.split("\n")
    for (const [i, line] of lines.entries()) {
      pending += line
      if (i === lines.length - 1) {
        if (pending.length > mostKept() && state.leaf.kind !== "fence") takeLong(work)
        return
      }
      endLine()
      if (!setHighlighter()) {
        held = lines.slice(i + 1).join("\n")
        return
      }
    }
  }

  /** False if a fence has begun whose language must be loaded first. */
  function setHighlighter(): boolean {
    const { leaf } = state
    if (leaf.kind !== "fence" || leaf.highlighter) return true
    const loading = languages.load(leaf.language)
    const parser = languages.get(leaf.language)
    leaf.highlighter = parser && createHighlighter(parser)
    void loading?.then(goOn)
    return loading === undefined
  }

  function goOn(): void {
    const text = held ?? ""
    held = undefined
    setHighlighter()
    add(text)
    if (isEnding && held === undefined) end()
    changed()
  }

  function takeWhole(text: string): { text: string; half: string } {
    const cut = /[\r\ud800-\udbff]$/.test(text) ? text.length - 1 : text.length
    count(cut)
    return { text: safe(text.slice(0, cut)), half: text.slice(cut) }
  }

  function mostKept(): number {
    const { rows, columns } = view()
    const visible = Math.floor((rows - otherRows) * columns * 0.75)
    return Math.max(leastOpen, Math.min(mostOpen, visible))
  }

  function endLine(): void {
    if (state.isInLine || (pending.length > mostKept() && state.leaf.kind !== "fence")) takeLong(work)
    else {
      count(pending.length)
      takeLine(work, pending)
    }
    pending = ""
    if (state.isInLine && state.leaf.kind === "paragraph" && state.leaf.role) closeLeaf(work)
    state.isInLine = false
    shorten(work)
  }

  /** A line that is longer than what is kept open is text; its beginning decides about its block. */
  function takeLong(on: Work): void {
    if (!on.state.isInLine) {
      const most = mostKept()
      if (on.state.leaf.kind === "table") closeLeaf(on)
      on.state.isInLine = true
      takeLine(on, pending.slice(0, most))
      pending = pending.slice(most)
    }
    if (on.state.leaf.kind !== "paragraph") on.state.leaf = { kind: "paragraph", text: "" }
    on.state.leaf.text += pending
    pending = ""
    shorten(on)
  }

  /** Finishes the beginning of a paragraph that is longer than what is kept open. */
  function shorten({ state: { leaf }, show }: Work): void {
    if (leaf.kind !== "paragraph") return
    const most = mostKept()
    while (leaf.text.length > most) {
      const end = cutAt(leaf.text, most)
      const isLineEnd = leaf.text[end] === "\n"
      const part: Paragraph = { ...leaf, text: leaf.text.slice(0, end) }
      count(end)
      show({ kind: leaf.role === "heading" ? "heading" : "paragraph", leaf: part, isOpen: !isLineEnd })
      leaf.carry = isLineEnd ? "" : part.carry!
      leaf.text = leaf.text.slice(isLineEnd ? end + 1 : end)
    }
  }

  function end(): void {
    isEnding = true
    if (held !== undefined || isEnded) return
    isEnded = true
    pending += safe(half)
    half = ""
    if (pending !== "" || state.isInLine) endLine()
    closeContainers(work, 0)
  }

  function take(): Line[] {
    const lines = finished
    finished = []
    return lines
  }

  function open(): Line[] {
    const lines: Line[] = []
    const copy = copyState(state)
    const ahead = workOn(copy, (some) => lines.push(...some))
    if (copy.leaf.kind === "fence") {
      if (pending !== "") takeLine(ahead, pending.slice(0, mostOpen))
      return lines
    }
    // Earlier rows of a long table would not be on the screen.
    if (copy.leaf.kind === "table") copy.leaf.rows = copy.leaf.rows.slice(-view().rows)
    count(pending.length + (copy.leaf.kind === "paragraph" ? copy.leaf.text.length : 0))
    if (copy.isInLine && copy.leaf.kind === "paragraph") copy.leaf.text += pending
    else if (pending !== "") takeLine(ahead, pending)
    closeContainers(ahead, 0)
    return lines
  }

  return Object.freeze({ add, end, isDone: () => isEnded, take, open })
}

/** At the end of a line or a word of the second half, and never inside a character. */
function cutAt(text: string, most: number): number {
  for (const mark of ["\n", " "]) {
    const at = text.lastIndexOf(mark, most)
    if (at > most / 2) return at
  }
  const isPair = /[\ud800-\udbff]/.test(text[most - 1]!)
  return isPair ? most - 1 : most
}
