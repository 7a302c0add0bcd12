// The state of Markdown at the end of a line: the quotes and list items around it, and the block that is still open.
// Blocks are found line by line, as CommonMark does it, so that an answer can be shown while it streams.
import type { Role } from "#edge/tui/screen/line.ts"
import type { Highlighter } from "./highlight.ts"

export type Container =
  | { kind: "quote"; isShown: boolean }
  | {
      kind: "item"
      isShown: boolean
      /** Column of the marker, and of the text behind it. */
      at: number
      indent: number
      /** What is shown before the text. */
      marker: string
      role: Role
    }

export type Align = "left" | "center" | "right"
export type Table = {
  head: string[]
  aligns: Align[]
  rows: string[][]
  /** Set when the first rows were shown: the others keep to them. */
  widths?: number[]
}
export type Paragraph = {
  kind: "paragraph"
  text: string
  role?: Role
  /** Set when the beginning was shown: the unfinished last line of it, painted, in which the text goes on. */
  carry?: string
}

export type Fence = {
  kind: "fence"
  mark: string
  indent: number
  language: string
  highlighter?: Highlighter | undefined
}

export type Leaf =
  | { kind: "none" }
  | Paragraph
  | Fence
  | { kind: "code"; blanks: number }
  | ({ kind: "table" } & Table)

export type BlockKind = Leaf["kind"] | "heading" | "rule" | "item"

export type State = {
  containers: Container[]
  leaf: Leaf
  /** Whether a blank line came since the last block. */
  isBlank: boolean
  /** The kind of the last block that was shown. */
  last?: BlockKind
  /** The line is so long that its beginning was taken already. */
  isInLine: boolean
}

export const none: Leaf = Object.freeze({ kind: "none" })

export function createState(): State {
  return { containers: [], leaf: none, isBlank: false, isInLine: false }
}

/** For looking ahead: changes to the copy do not affect the original. */
export function copyState(state: State): State {
  const { leaf, containers } = state
  const copy: Leaf =
    leaf.kind === "fence"
      ? { ...leaf, highlighter: leaf.highlighter?.copy() }
      : leaf.kind === "table"
        ? { ...leaf, rows: [...leaf.rows] }
        : { ...leaf }
  return { ...state, leaf: copy, containers: containers.map((one) => ({ ...one })) }
}
