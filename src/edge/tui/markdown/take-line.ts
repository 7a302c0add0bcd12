// Takes one line of Markdown: ends the blocks that it ends, and adds it to the open block or begins a new one.

import { type Container, type Fence, none, type Paragraph, type State, type Table } from "./block.ts"
import type { Block } from "./show-block.ts"
import { alignsOf, cellsOf } from "./table-cells.ts"

export type Work = { state: State; show(block: Block): void }

const fenceStart = /^ {0,3}(`{3,}|~{3,})[ \t]*([^`]*)$/
const headingStart = /^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$/
const rule = /^ {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$/
const underline = /^ {0,3}(?:=+|-+)[ \t]*$/
const itemStart = /^( *)([-+*]|\d{1,9}[.)])(?:( +)(.*)|)$/
const quoteStart = /^ {0,3}> ?/
/** A table of more rows is shown in parts. */
const maxRows = 200

export function takeLine(work: Work, line: string): void {
  const { state } = work
  const { rest, depth } = matchContainers(state, line)
  const { leaf } = state
  if (depth < state.containers.length) {
    if (leaf.kind === "paragraph" && !startsBlock(rest) && rest.trim() !== "") {
      leaf.text += `\n${rest.trimStart()}`
      return
    }
    closeContainers(work, depth)
  }
  if (leaf.kind === "fence" && state.leaf === leaf) takeFenceLine(work, leaf, rest)
  else if (rest.trim() === "") takeBlank(work)
  else takeText(work, takeContainers(work, rest))
}

/** Shows the open block as it is. */
export function closeLeaf({ state, show }: Work): void {
  const { leaf } = state
  state.leaf = none
  if (leaf.kind === "paragraph") show({ kind: leaf.role === "heading" ? "heading" : "paragraph", leaf })
  if (leaf.kind === "table") show({ kind: "table", table: leaf })
  if (leaf.kind === "code" && leaf.blanks > 0) state.isBlank = true
}

/** Ends the open block and the containers from `depth` on. An item without text is shown too. */
export function closeContainers(work: Work, depth: number): void {
  const { containers } = work.state
  closeLeaf(work)
  if (containers.slice(depth).some(({ kind, isShown }) => kind === "item" && !isShown))
    work.show({ kind: "paragraph", leaf: { kind: "paragraph", text: "" } })
  containers.length = depth
}

function matchContainers({ containers }: State, line: string): { rest: string; depth: number } {
  let rest = line
  let depth = 0
  for (const container of containers) {
    const next = matchContainer(container, rest)
    if (next === undefined) break
    rest = next
    depth++
  }
  return { rest, depth }
}

function matchContainer(container: Container, line: string): string | undefined {
  if (container.kind === "quote") return quoteStart.test(line) ? line.replace(quoteStart, "") : undefined
  if (line.trim() === "") return ""
  const spaces = indentOf(line)
  if (spaces >= container.indent) return line.slice(container.indent)
  // Models often indent by two where the text of a numbered item begins at three.
  const isNested = spaces >= container.at + 2 && itemStart.test(line)
  return isNested ? line.slice(spaces) : undefined
}

function takeFenceLine({ state, show }: Work, leaf: Fence, line: string): void {
  const { mark } = leaf
  const closing = line.trim()
  if (indentOf(line) < 4 && closing.length >= mark.length && closing === mark[0]!.repeat(closing.length)) {
    state.leaf = none
    show({ kind: "fence", part: "end", text: closing })
    return
  }
  const text = line.slice(Math.min(indentOf(line), leaf.indent))
  show({ kind: "fence", part: "line", text, highlighter: leaf.highlighter })
}

function takeBlank(work: Work): void {
  const { leaf } = work.state
  if (leaf.kind === "code") {
    leaf.blanks++
    return
  }
  closeLeaf(work)
  work.state.isBlank = true
}

/** Quotes and list items that begin in this line. */
function takeContainers(work: Work, line: string): string {
  const { state } = work
  let rest = line
  for (;;) {
    if (quoteStart.test(rest)) {
      closeLeaf(work)
      state.containers.push({ kind: "quote", isShown: false })
      rest = rest.replace(quoteStart, "")
      continue
    }
    const item = rule.test(rest) || isIndentedCode(state, rest) ? undefined : itemOf(state, rest)
    if (!item) return rest
    closeLeaf(work)
    state.containers.push(item.container)
    rest = item.rest
  }
}

function itemOf(state: State, line: string): { container: Container; rest: string } | undefined {
  const [, lead = "", mark = "", gap = "", text = ""] = itemStart.exec(line) ?? []
  if (!mark) return undefined
  const isText = state.leaf.kind === "paragraph"
  // A number at the start of a line of a paragraph is mostly a number.
  if (isText && (text.trim() === "" || (/\d/.test(mark) && Number.parseInt(mark, 10) !== 1))) return undefined
  const [, box = ""] = /^\[([ xX])\] /.exec(text) ?? []
  const isWide = gap.length > 4
  const width = mark.length + (isWide || !gap ? 1 : gap.length)
  const marker = box ? (box === " " ? "☐ " : "☑ ") : /\d/.test(mark) ? `${mark} ` : "• "
  return {
    container: {
      kind: "item",
      isShown: false,
      at: lead.length,
      indent: lead.length + width,
      marker,
      role: box && box !== " " ? "success" : "accent",
    },
    rest: (isWide ? gap.slice(1) : "") + (box ? text.slice(4) : text),
  }
}

function takeText(work: Work, line: string): void {
  const { state } = work
  const { leaf } = state
  // The beginning of a long line is a heading or text.
  const isLong = state.isInLine && !headingStart.test(line)
  if (isLong && leaf.kind === "paragraph") leaf.text += `\n${line.trimStart()}`
  else if (isLong) {
    closeLeaf(work)
    state.leaf = { kind: "paragraph", text: line.trimStart() }
  } else if (leaf.kind === "paragraph" && underline.test(line)) {
    leaf.role = "heading"
    closeLeaf(work)
  } else if (line.trim() === "") closeLeaf(work)
  else if (isIndentedCode(state, line)) takeCodeLine(work, line.slice(4))
  else if (fenceStart.test(line)) openFence(work, line)
  else if (headingStart.test(line)) takeHeading(work, line)
  else if (rule.test(line)) {
    closeLeaf(work)
    work.show({ kind: "rule" })
  } else if (leaf.kind === "table") takeRow(work, leaf, line)
  else if (leaf.kind === "paragraph") takeParagraphLine(work, leaf, line)
  else {
    closeLeaf(work)
    state.leaf = { kind: "paragraph", text: line.trimStart() }
  }
}

function openFence(work: Work, line: string): void {
  const [, mark = "", info = ""] = fenceStart.exec(line)!
  const language = /^[^\s{,]*/.exec(info.trim())![0]
  closeLeaf(work)
  work.state.leaf = { kind: "fence", mark, indent: indentOf(line), language }
  work.show({ kind: "fence", part: "start", text: `${mark}${info.trim()}` })
}

function takeHeading(work: Work, line: string): void {
  closeLeaf(work)
  work.state.leaf = { kind: "paragraph", text: headingStart.exec(line)![2] ?? "", role: "heading" }
  // A long line goes on.
  if (!work.state.isInLine) closeLeaf(work)
}

function takeCodeLine({ state, show }: Work, text: string): void {
  const { leaf } = state
  const blanks = leaf.kind === "code" ? leaf.blanks : 0
  for (let i = 0; i < blanks; i++) show({ kind: "code", text: "" })
  state.leaf = { kind: "code", blanks: 0 }
  show({ kind: "code", text })
}

/** The last line of a paragraph may be the head of a table. */
function takeParagraphLine(work: Work, leaf: Paragraph, line: string): void {
  const { text } = leaf
  const start = text.lastIndexOf("\n") + 1
  const aligns = alignsOf(line)
  const head = aligns && leaf.carry === undefined ? cellsOf(text.slice(start)) : []
  if (!aligns || head.length !== aligns.length) {
    // Text that is aligned with blanks, such as code without a fence, stays aligned.
    leaf.text += `\n${line}`
    return
  }
  if (start > 0) {
    leaf.text = text.slice(0, start - 1)
    closeLeaf(work)
  }
  work.state.leaf = { kind: "table", head, aligns, rows: [] }
}

function takeRow(work: Work, leaf: Table & { kind: "table" }, line: string): void {
  leaf.rows.push(cellsOf(line))
  if (leaf.rows.length < maxRows) return
  work.show({ kind: "table", table: leaf })
  work.state.leaf = { ...leaf, rows: [] }
}

function startsBlock(line: string): boolean {
  return (
    [fenceStart, headingStart, rule, quoteStart].some((start) => start.test(line)) || itemStart.test(line)
  )
}

function isIndentedCode({ leaf }: State, line: string): boolean {
  return leaf.kind !== "paragraph" && leaf.kind !== "table" && indentOf(line) >= 4
}

function indentOf(line: string): number {
  return /^ */.exec(line)![0].length
}
