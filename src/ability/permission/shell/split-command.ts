// Splits a command line into the simple commands that it would run, wherever they are: after operators, in bodies,
// substitutions and here-documents. A line that cannot be read with certainty is unclear, which is not an error.
import type { SyntaxNode } from "unbash"
import { createDeclaredLists } from "./declared-lists.ts"
import { parse } from "./parse-shell.ts"
import { createValues } from "./values.ts"
import { changesWhatRuns } from "./variables.ts"
import { type Command, type Found, walk } from "./walk.ts"
import { createWord, type Known, type ShellWord } from "./word.ts"

export type SimpleCommand = {
  words: ShellWord[]
  /** The words after quote removal, with one blank between them. */
  text: string
  /** It writes a file through a redirection. */
  writes: boolean
  /** It sets a variable that decides what runs. */
  sets: boolean
  /** Its position in the line. */
  span?: Span
}
export type Span = { from: number; to: number }

export type Split = {
  commands: SimpleCommand[]
  /** Why it is unclear what would run. */
  unclear?: string
  /** It does arithmetic with more than numbers. */
  calculates: boolean
}

type Redirection = Extract<SyntaxNode, { type: "Redirect" | "HereString" | "HereDoc" }>

/** For a longer text, parsing again is cheaper than caching. */
const longest = 16_384
/** The most characters of all cached texts, which limits the cache to a few megabytes. */
const maxLetters = 100_000

const maxLength = 256 * 1024
const maxEnd = 100
/** The parser searches the end of each brace again, so many braces would be slow. */
const maxBraces = 300
/** Terminal sequences, and characters that turn around or hide what is shown. */
const hasHidden = (text: string) =>
  /[^\P{Cc}\t\n]|[\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/u.test(text)
/** Bash removes an escaped line end before it parses the text around it. */
const brokenOperator = /(?:[$<>({[`!]|\$\{?\w+)\\\n/

/** Cached, because several checks of one judgement split the same line. */
export const splitCommand = keepLast(split)

export type HereDocument = Extract<SyntaxNode, { type: "HereDoc" }>

/** Unambiguous delimiters of here-documents, with their quotes. */
const plainEnd = /^\\?[\w.:@%+-]+$|^(["'])[\w .:@%+-]+\1$/

function split(command: string): Split {
  if (command.includes("\0")) return { commands: [], unclear: "it has a NUL byte", calculates: false }
  if (command.length > maxLength) return { commands: [], unclear: "it is too long", calculates: false }
  if (bracesOf(command) > maxBraces)
    return { commands: [], unclear: "it has too many braces in a word", calculates: false }
  const found: Found = {
    nodes: [],
    hereDocuments: [],
    lists: createDeclaredLists(),
    values: createValues(),
    rereads: false,
  }
  try {
    walk(parse(command), found)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    found.unclear = "it is nested too deep"
  }
  if (hasHidden(command)) found.unclear ??= "it has control characters"
  if (!areFound(command, found.hereDocuments))
    found.unclear ??= "it has a here-document that may end elsewhere"
  if (brokenOperator.test(command)) found.unclear ??= "it has a line end within an operator or a name"
  if (/\\*$/.exec(command.slice(-maxEnd))![0].length % 2) found.unclear ??= "it ends with a backslash"
  const { nodes, values, rereads } = found
  const calculates = values.calculates()
  // A value from elsewhere can contain a subscript that runs a command when it is evaluated.
  if (calculates && (rereads || !values.areNumbers()))
    found.unclear ??= "it calculates with values that are not known"
  if (found.lists.mayExpand(rereads))
    found.unclear ??= "it declares a list from a text that is expanded again"
  const known: Known = rereads ? () => undefined : values.known
  const commands = nodes.flatMap((node) => read(node, known))
  return found.unclear === undefined
    ? { commands, calculates }
    : { commands, calculates, unclear: found.unclear }
}

/** The most braces that are opened between two blanks. */
function bracesOf(command: string): number {
  let [most, count] = [0, 0]
  for (let i = 0; i < command.length; i++) {
    const char = command[i]
    if (char === "{") most = Math.max(most, ++count)
    else if (char === " " || char === "\n" || char === "\t") count = 0
  }
  return most
}

function read(node: Found["nodes"][number], known: Known): SimpleCommand | [] {
  if (node === "sets") return { words: [], text: "", writes: false, sets: true }
  if (node.type === "Command") return simpleCommand(node, known)
  const writes = node.redirects.some((redirection) => isWriting(redirection, known))
  return writes ? { words: [], text: "", writes, sets: false, span: spanOf(node) } : []
}

function simpleCommand(command: Command, known: Known): SimpleCommand {
  const named = command.name ? [createWord(command.name, known)] : []
  const args = command.args.map((arg) => (arg.type === "Word" ? createWord(arg, known) : assigned(arg.text)))
  const words = [...named, ...args]
  const assignments = [...command.prefix, ...command.suffix].filter((item) => item.type === "Assignment")
  // `IFS= read -r line` is the usual way to read a whole line.
  const isReading = /^(read|mapfile|readarray)$/.test(words[0]?.text ?? "")
  return {
    words,
    text: words.map(({ text }) => text).join(" "),
    writes: command.redirects.some((redirection) => isWriting(redirection, known)),
    sets: assignments.some(({ name }) => changesWhatRuns(name) && !(name === "IFS" && isReading)),
    span: spanOf(command),
  }
}

function spanOf({ pos, end }: SyntaxNode): Span {
  return { from: pos, to: end }
}

/** An argument such as that of `export A=b`. Its value is checked separately. */
function assigned(text: string): ShellWord {
  const isLiteral = !/[$`*?{~<>\\'"([]/.test(text)
  return { text, pieces: [text], isLiteral, isMany: false, mayBeOption: false }
}

/** Whether a redirection writes a file or uses the network. Copying and closing descriptors does not, nor does
 * /dev/null. */
function isWriting(redirection: Redirection, known: Known): boolean {
  if (redirection.type !== "Redirect") return false
  const { operator, target, descriptor } = redirection
  if (!target) return true
  const { text, isLiteral, pieces } = createWord(target, known)
  if (descriptor?.type === "FileDescriptorVariable" && changesWhatRuns(descriptor.name)) return true
  if (operator === ">&" || operator === "<&") return !(isLiteral && /^(\d+-?|-)$/.test(text))
  if (operator === "<") return isLiteral ? /^\/dev\/(tcp|udp)\//.test(text) : mayBeNetwork(pieces[0]!)
  return !(isLiteral && text === "/dev/null")
}

/** Whether a path with this beginning can be one that bash connects to. */
function mayBeNetwork(start: string): boolean {
  return "/dev/tcp/".startsWith(start) || "/dev/udp/".startsWith(start) || /^\/dev\/(tcp|udp)/.test(start)
}

/** Caches the results for recent texts. Callers share the results and must not change them. */
function keepLast<T extends object>(make: (text: string) => T): (text: string) => T {
  const kept = new Map<string, T>()
  let letters = 0

  return (text) => {
    const known = kept.get(text)
    if (known) return known
    const made = make(text)
    if (text.length > longest) return made
    letters += text.length
    if (letters > maxLetters) {
      kept.clear()
      letters = text.length
    }
    kept.set(text, made)
    return made
  }
}

/**
 * Whether bash finds the here-documents where our parser does. Each must begin on the line after the one that names it, or
 * where the one before it ends, and must end with its delimiter. Otherwise, for example if the line continues in quotes, bash
 * could run as a command what our parser takes for text.
 */
function areFound(line: string, documents: HereDocument[]): boolean {
  let last = { lineEnd: -1, next: -1 }
  for (const { end, body, closing, delimiter } of documents.toSorted((a, b) => a.pos - b.pos)) {
    const lineEnd = line.indexOf("\n", end)
    if (!delimiter || !closing || !plainEnd.test(delimiter.text)) return false
    if (lineEnd < 0 || line.slice(closing.pos, closing.end) !== delimiter.value) return false
    if (body.pos !== (lineEnd === last.lineEnd ? last.next : lineEnd + 1)) return false
    last = { lineEnd, next: closing.end + 1 }
  }
  return true
}
