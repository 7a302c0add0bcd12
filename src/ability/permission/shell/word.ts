// A word of a command after quote removal. What the shell would expand is a hole: it can be anything, unless the line
// itself sets the variable.
import type { Word, WordPart } from "unbash"

export type ShellWord = {
  /** Quotes removed; expansions stay as written. */
  text: string
  /** The certain pieces. Between two pieces, anything can come. */
  pieces: string[]
  /** The shell does not change it. */
  isLiteral: boolean
  /** Its expansion can be several words. */
  isMany: boolean
  /** Its expansion can be an option that is not written here. */
  mayBeOption: boolean
}

/** What is certain about all values of a variable that the line sets. */
export type Held = {
  /** The shell does not change its values, even without quotes. */
  isPlain: boolean
  mayBeOption: boolean
}
export type Known = (name: string) => Held | undefined

type State = Pick<ShellWord, "pieces" | "isMany" | "mayBeOption"> & {
  /** What is certain about its beginning, in short form. */
  start: "" | "-" | "--" | "--x" | "--x=" | "-x" | "x"
  known: Known
}

const variable = /^\$(?:\{(\w+)\}|([A-Za-z_]\w*))$/
const plain = /^[\w./:@%+,=-]+$/

export function createWord(word: Word, known: Known = () => undefined): ShellWord {
  const state: State = { pieces: [""], isMany: false, mayBeOption: false, start: "", known }
  if (!word.parts) state.pieces[0] = word.value
  else for (const part of word.parts) addPart(state, part, false)
  const { pieces, isMany, mayBeOption } = state
  return { text: word.value, pieces, isLiteral: pieces.length === 1, isMany, mayBeOption }
}

export function createHeld(values: ShellWord[]): Held {
  return {
    isPlain: values.every(({ isLiteral, text }) => isLiteral && plain.test(text)),
    mayBeOption: values.some(({ mayBeOption, pieces }) => mayBeOption || pieces[0]!.startsWith("-")),
  }
}

/** A word with an unknown value. */
export function createHole(text: string): ShellWord {
  return { text, pieces: ["", ""], isLiteral: false, isMany: true, mayBeOption: true }
}

function addPart(state: State, part: WordPart, isQuoted: boolean): void {
  if (part.type === "Literal" || part.type === "SingleQuoted" || part.type === "AnsiCQuoted")
    addText(state, part.value)
  else if (part.type === "DoubleQuoted") for (const child of part.parts) addPart(state, child, true)
  else addHole(state, part, isQuoted)
}

function addHole(state: State, part: WordPart, isQuoted: boolean): void {
  // A path that the shell creates.
  if (part.type === "ProcessSubstitution") addText(state, "/dev/fd/")
  else if (part.type === "Glob") addSeveral(state, state.start === "")
  else if (part.type === "BraceExpansion")
    addSeveral(state, state.start === "" && !/^\{[\w./][\w./]*(,[\w./][\w./-]*|\.\.\w+)+\}$/.test(part.text))
  else if (!isNumeric(part)) addValue(state, part.text, isQuoted)
  else state.start ||= "x"
  state.pieces.push("")
}

function addText(state: State, text: string): void {
  // The part before it may be empty.
  if (state.pieces.length > 1 && state.start === "" && text.startsWith("-")) state.mayBeOption = true
  state.pieces[state.pieces.length - 1] += text
  state.start = startOf(state.start + text)
}

function addSeveral(state: State, mayStart: boolean): void {
  state.isMany = true
  if (mayStart || isShort(state.start)) state.mayBeOption = true
}

function addValue(state: State, text: string, isQuoted: boolean): void {
  const [, braced, bare] = variable.exec(text) ?? []
  const held = state.known(braced ?? bare ?? "")
  const isWhole = isQuoted ? !/[@*]/.test(text) : held?.isPlain === true
  if (!isWhole) {
    state.isMany = true
    state.mayBeOption = true
  } else if (isShort(state.start)) state.mayBeOption = true
  else if (state.start === "") state.mayBeOption ||= held?.mayBeOption ?? true
}

/** Whether the expansion is always a number. */
function isNumeric(part: WordPart): boolean {
  if (part.type === "ArithmeticExpansion") return true
  if (part.type === "ParameterExpansion") return part.prefix === "#"
  return part.type === "SimpleExpansion" && /^\$[#?$]$/.test(part.text)
}

/** Shortened to what matters, so that a word of many parts is not scanned again for each part. */
function startOf(text: string): State["start"] {
  if (text === "" || text === "-" || text === "--") return text
  if (!text.startsWith("-")) return "x"
  const [, end] = /^--[\w-]+(=|$)/.exec(text) ?? []
  return end === undefined ? "-x" : end === "" ? "--x" : "--x="
}

/** `-x` may get further letters, `--since=` only a value. */
function isShort(start: State["start"]): boolean {
  return start.startsWith("-") && start !== "--x="
}
