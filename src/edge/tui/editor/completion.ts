// The list of files, commands or arguments of a command that fit what is being typed. Answers come late: an answer to an earlier question is dropped,
// and meanwhile the list keeps what still fits.
import { between, type Document, documentOf, insert, type Place, remove, textOf } from "./document.ts"

/** `/model`: an argument of that command. */
export type Kind = "file" | "command" | `/${string}`
/** A folder's value ends with `/`. `isFree`: other values are right too, so Enter sends what was typed. */
export type Choice = Readonly<{ value: string; about?: string; isFree?: true }>
export type Complete = (kind: Kind, query: string, signal: AbortSignal) => Promise<readonly Choice[]>

/** What is being completed: from its sign to the caret. */
type Token = { kind: Kind; start: Place; query: string; isQuoted: boolean }

/** As the engine finds references to files (`@path`, `@"a path"`). */
const fileToken = /(?<![\w.+\-/\\@:=])@(?:"([^"\n]*)|([^\s"`<>|*?]*))$/
const commandToken = /^\/(\S*)$/
const argumentToken = /^\/([^\s/]+) +(.*)$/
/** Longer than the paths that people complete. */
const maxToken = 1_000
const needsQuotes = /[\s`<>|*?]/

export function createCompletion({ complete, onChange }: { complete: Complete; onChange: () => void }) {
  let token: Token | undefined
  let choices: readonly Choice[] = []
  let selected = 0
  let asking: AbortController | undefined
  /** Where a list was closed: it stays closed until another word is typed. */
  let closed: Place | undefined

  return Object.freeze({
    get choices() {
      return choices
    },
    get selected() {
      return selected
    },
    update,
    open,
    hide,
    close,
    move,
    accept,
    isTyped,
    isArgument,
  })

  /** After every change of the text. */
  function update(document: Document): void {
    const next = tokenAt(document)
    if (!next || !isAt(closed, next.start)) closed = undefined
    if (!next || closed) hide()
    else ask(next)
  }

  /** Asked for by a key. Whether there is something to complete. */
  function open(document: Document): boolean {
    const next = tokenAt(document)
    closed = undefined
    if (next) ask(next)
    return next !== undefined
  }

  /** By a key: the list of this word stays closed. */
  function close(): void {
    closed = token?.start
    hide()
  }

  function move(step: 1 | -1): void {
    selected = (selected + step + choices.length) % choices.length
  }

  /** The document with the selected choice in the place of what was typed. */
  function accept(document: Document): Document {
    const { kind, start, isQuoted } = token!
    const { value } = choices[selected]!
    const isFolder = kind === "file" && value.endsWith("/")
    const quote = kind === "file" && (isQuoted || needsQuotes.test(value)) ? '"' : ""
    const { line, at } = document.caret
    const [following, second] = document.lines[line]!.slice(at, at + 2)
    const hasQuote = quote !== "" && following === '"'
    const end = hasQuote ? { line, at: at + 1 } : document.caret
    const blank = isFolder || (hasQuote ? second : following) === " " ? "" : " "
    const sign = kind === "file" ? "@" : kind === "command" ? "/" : ""
    const text = `${sign}${quote}${value}${isFolder ? "" : quote}${blank}`
    hide()
    return insert(remove(document, start, end), documentOf(text).lines)
  }

  /** Whether what was typed is a choice, and the person has selected no other: Enter sends then. */
  function isTyped(): boolean {
    const isIt = ({ value }: Choice) => value === token?.query
    if (selected > 0) return isIt(choices[selected]!)
    const isAlone = isArgument() && token?.query === ""
    return isAlone || choices[0]?.isFree === true || choices.some(isIt)
  }

  /** Whether the choices are arguments of a command: with one of them the command is complete. */
  function isArgument(): boolean {
    return token?.kind.startsWith("/") === true
  }

  function ask(next: Token): void {
    const isSame = token?.kind === next.kind && token.query === next.query && isAt(token.start, next.start)
    if (isSame && (asking || choices.length)) return
    const isOther = token?.kind !== next.kind || !isAt(token.start, next.start)
    keep(isOther ? [] : choices.filter(({ value }) => fits(value, next.query)))
    token = next
    asking?.abort()
    const mine = new AbortController()
    asking = mine
    const answer = (found: readonly Choice[]) => {
      if (asking !== mine) return
      asking = undefined
      keep(found)
      onChange()
    }
    // A failing lookup shows no list.
    complete(next.kind, next.query, mine.signal).then(answer, () => answer([]))
  }

  /** The person's choice stays selected if it is still there. */
  function keep(next: readonly Choice[]): void {
    const value = selected > 0 ? choices[selected]?.value : undefined
    choices = next
    selected = Math.max(
      0,
      next.findIndex((choice) => choice.value === value),
    )
  }

  function hide(): void {
    asking?.abort()
    asking = undefined
    token = undefined
    choices = []
    selected = 0
  }
}

function tokenAt(document: Document): Token | undefined {
  const { line, at } = document.caret
  const start = { line, at: Math.max(0, at - maxToken) }
  // A marker is no part of a word.
  const text = textOf(between(document, start, document.caret), () => "\n")
  if (document.lines[0]![0] === "!") return undefined
  const [command, name] = (line === 0 && start.at === 0 && commandToken.exec(text)) || []
  if (command !== undefined) return { kind: "command", start, query: name!, isQuoted: false }
  const [file, quoted, bare] = fileToken.exec(text) ?? []
  if (file === undefined) return line === 0 && start.at === 0 ? argumentAt(text) : undefined
  const units = documentOf(file).caret.at
  const query = quoted ?? bare ?? ""
  return { kind: "file", start: { line, at: at - units }, query, isQuoted: quoted !== undefined }
}

function argumentAt(text: string): Token | undefined {
  const [whole, name, query] = argumentToken.exec(text) ?? []
  if (whole === undefined) return undefined
  const at = documentOf(whole.slice(0, whole.length - query!.length)).caret.at
  return { kind: `/${name}`, start: { line: 0, at }, query: query!, isQuoted: false }
}

/** The letters of the query, in their order. */
export function fits(value: string, query: string): boolean {
  let at = 0
  const text = value.toLowerCase()
  for (const letter of query.toLowerCase()) {
    at = text.indexOf(letter, at) + 1
    if (at === 0) return false
  }
  return true
}

function isAt(one: Place | undefined, other: Place): boolean {
  return one?.line === other.line && one.at === other.at
}
