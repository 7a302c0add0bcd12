// A command line as the simple commands that it would run, wherever they stand: behind operators, in bodies, in
// substitutions, in here-documents. What cannot be told for sure makes the whole line unclear; that is never an error.
import { parse, type SyntaxNode } from "unbash"
import { createDeclaredLists } from "./declared-lists.ts"
import { areFound } from "./here-documents.ts"
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
  /** Where it stands in the line. */
  span?: Span
}
export type Span = { from: number; to: number }

export type Split = {
  commands: SimpleCommand[]
  /** Why nobody can say for sure what would run. */
  unclear?: string
  /** It calculates with more than numbers. */
  calculates: boolean
}

type Redirection = Extract<SyntaxNode, { type: "Redirect" | "HereString" | "HereDoc" }>

/** To keep what was made of a longer one costs more than to make it again. */
const longest = 16_384
/** All texts together, so that what is kept takes a few megabytes at most. */
const maxLetters = 100_000

const maxLength = 256 * 1024
const maxEnd = 100
/** The parser looks for the end of each brace anew. */
const maxBraces = 300
/** Terminal sequences, and characters that turn around or hide what is shown. */
const hidden = /[^\P{Cc}\t\n]|[\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/u
/** Bash takes an escaped line end out before it reads what stands around it. */
const brokenOperator = /(?:[$<>({[`!]|\$\{?\w+)\\\n/

/** Each part of a judgement splits the line, and what is in it, for itself. */
export const splitCommand = keepLast(split)

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
  if (hidden.test(command)) found.unclear ??= "it has control characters"
  if (!areFound(command, found.hereDocuments))
    found.unclear ??= "it has a here-document that may end elsewhere"
  if (brokenOperator.test(command)) found.unclear ??= "it has a line end within an operator or a name"
  if (/\\*$/.exec(command.slice(-maxEnd))![0].length % 2) found.unclear ??= "it ends with a backslash"
  const { nodes, values, rereads } = found
  const calculates = values.calculates()
  // A value that came from elsewhere can hold a subscript that runs a command when it is calculated with.
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

/** How many braces are opened between two blanks, at most. */
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
  // `IFS= read -r line` is how a line is read whole.
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

/** An argument such as that of `export A=b`. What its value holds is looked at on its own. */
function assigned(text: string): ShellWord {
  const isLiteral = !/[$`*?{~<>\\'"([]/.test(text)
  return { text, pieces: [text], isLiteral, isMany: false, mayBeOption: false }
}

/** Descriptors are copied and closed, and /dev/null takes everything; all else goes to a file or over the network. */
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

/** Whether a path that begins so can be one of those that bash connects to. */
function mayBeNetwork(start: string): boolean {
  return "/dev/tcp/".startsWith(start) || "/dev/udp/".startsWith(start) || /^\/dev\/(tcp|udp)/.test(start)
}

/** What was made of the last texts, so that one that is looked at from several sides is read once. What is given is
 * shared: nobody may change it. */
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
