// The types that everything which draws shares.
import type { Graphics } from "./picture.ts"

/** Text, SGR sequences and hyperlinks (OSC 8), without other control characters. It is narrower than the terminal, unless it is a line of code: a
 * long one is broken by the terminal, so that a copy of it is one line. */
export type Line = string

/** What a piece of text is. The theme says how it looks. */
export type Role =
  | "dim"
  | "strong"
  | "emphasis"
  | "strike"
  | "heading"
  | "link"
  | "code"
  | "quote"
  | "accent"
  | "user"
  | "success"
  | "warning"
  | "error"
  | "added"
  | "removed"
  | "addedWord"
  | "removedWord"
  | "selected"
  | "keyword"
  | "string"
  | "number"
  | "comment"
  | "function"
  | "type"

/** How many colours a terminal has, in bits; 1 is none. */
export type Depth = 1 | 4 | 8 | 24

export type Paint = (role: Role, text: string) => string

/** `columns` is one less than the terminal has: after a full line, terminals disagree about where the cursor is. */
export type View = Readonly<{
  columns: number
  rows: number
  paint: Paint
  /** For colours of a program; without it they are not shown. */
  depth?: Depth
  /** How the terminal shows images, if it can. */
  graphics?: Graphics | undefined
  /** Whether the terminal shows hyperlinks. */
  hasLinks?: boolean
  /** The key that shows folded output in full, for hints. */
  expandKey?: string | undefined
}>

/** The lines that may still change. `caret` is where the cursor is shown. */
export type Tail = { lines: Line[]; caret?: { row: number; column: number } }
