// A block of Markdown as lines of the terminal, behind the marks of the quotes and list items around it. Text is wrapped;
// code is not, so that copying gives the line as it was.
import type { Line, View } from "#edge/tui/screen/line.ts"
import { widthOf, wrapTo } from "#edge/tui/screen/width.ts"
import type { BlockKind, Container, Paragraph, State, Table } from "./block.ts"
import type { Highlighter } from "./highlight.ts"
import { paintText } from "./paint-text.ts"
import { showTable } from "./show-table.ts"

export type Block =
  /** `isOpen`: the text goes on; its last line is kept in `carry`. */
  | { kind: "paragraph" | "heading"; leaf: Paragraph; isOpen?: boolean }
  | { kind: "table"; table: Table }
  | { kind: "fence"; part: "start" | "line" | "end"; text: string; highlighter?: Highlighter | undefined }
  | { kind: "code"; text: string }
  | { kind: "rule" }

const gapBefore = new Set<BlockKind>(["heading", "fence", "table", "rule", "code"])
const gapAfter = new Set<BlockKind>(["fence", "table", "rule", "code"])
const narrowest = 8

export function showBlock(block: Block, state: State, view: View): Line[] {
  const { last } = state
  const isGap =
    last !== undefined &&
    !isContinued(block, state) &&
    (state.isBlank || gapBefore.has(block.kind) || gapAfter.has(last))
  const gap = isGap
    ? [
        marksOf(
          state.containers.filter(({ isShown }) => isShown),
          view,
        ).rest.trimEnd(),
      ]
    : []
  const { first, rest, width } = marksOf(state.containers, view)
  const lines = linesOf(block, { ...view, columns: Math.max(narrowest, view.columns - width) })
  state.last = block.kind
  state.isBlank = false
  if (lines.length) for (const container of state.containers) container.isShown = true
  return [...gap, ...lines.map((line, i) => (i === 0 ? first : rest) + line)]
}

function isContinued(block: Block, { last }: State): boolean {
  if (block.kind === "fence") return block.part !== "start"
  if (block.kind === "code") return last === "code"
  if (block.kind === "table") return block.table.widths !== undefined
  return block.kind !== "rule" && block.leaf.carry !== undefined
}

function linesOf(block: Block, view: View): Line[] {
  const { paint, columns } = view
  switch (block.kind) {
    case "rule":
      return [paint("dim", "─".repeat(Math.min(columns, 40)))]
    case "table":
      return showTable(block.table, view)
    case "code":
      return [paint("code", block.text)]
    case "fence":
      if (block.part !== "line") return [paint("dim", block.text)]
      return [codeLine(block.text, block.highlighter, view)]
    default:
      return textLines(block, view)
  }
}

function codeLine(text: string, highlighter: Highlighter | undefined, { paint }: View): Line {
  if (!highlighter) return paint("code", text)
  return highlighter
    .take(text)
    .map(({ text, role }) => (role ? paint(role, text) : text))
    .join("")
}

function textLines({ leaf, isOpen }: { leaf: Paragraph; isOpen?: boolean }, view: View): Line[] {
  const [first = "", ...more] = paintText(leaf.text, view, leaf.role)
  const lines = [`${leaf.carry ?? ""}${first}`, ...more].flatMap((line) => wrapTo(line, view.columns))
  if (isOpen) leaf.carry = lines.pop() ?? ""
  return lines
}

/** The marks before the first line of a block, and before the others. Where they would take more than half of the line,
 * only the inner ones are shown. */
function marksOf(containers: readonly Container[], { paint, columns }: View) {
  let shown = containers
  const widthOfAll = () => shown.reduce((sum, one) => sum + widthOf(textOf(one)), 0)
  while (shown.length > 1 && widthOfAll() > columns / 2) shown = shown.slice(1)
  const first = shown.map((one) =>
    one.kind === "item" && one.isShown
      ? blank(one)
      : paint(one.kind === "quote" ? "quote" : one.role, textOf(one)),
  )
  const rest = shown.map((one) => (one.kind === "quote" ? paint("quote", textOf(one)) : blank(one)))
  return { first: first.join(""), rest: rest.join(""), width: widthOfAll() }
}

function textOf(container: Container): string {
  return container.kind === "quote" ? "│ " : container.marker
}

function blank(container: Container): string {
  return " ".repeat(widthOf(textOf(container)))
}
