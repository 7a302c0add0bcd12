// One part of a request, with what is recognised in it. Its shape is its words in lower case, with signs for the rest: Q for
// quoted text, U for a URL, F for a file, D for a folder, G for a glob or a kind of files.
import { meantVerb, meantWord } from "./lexicon.ts"
import { type Lines, linesIn } from "./lines.ts"
import { isFile, isFolder, isGlob, isKnownFolder, kindOf, namedFile, splitLines } from "./recognize.ts"
import type { Token } from "./tokens.ts"

export type Clause = {
  /** The whole request, from which text is cut. */
  source: string
  tokens: Token[]
  /** Words in lower case; an empty string for a token that is no word. */
  words: string[]
  shape: string
  verb: string
  quotes: Token[]
  urls: string[]
  /** Globs, also those of a kind: "TypeScript files" is `*.ts`. */
  globs: string[]
  files: string[]
  folders: string[]
  lines: Lines
}

/** Only the start of a long clause is analysed; the rest is content. */
const maxLooked = 400
const into = /^(?:in|inside|under|within|from|below|of|across|at|through|into|beneath|throughout|over|to)$/
const article = /^(?:the|a|an|my|our|your|this|that|all|every|any|each|both)$/
const folderNoun = /^(?:folder|directory|dir|subfolder|subdirectory)s?$/
/** Words before "folder" that are no name of a folder. */
const noName =
  /^(?:current|same|hidden|parent|working|local|other|first|last|only|whole|entire|root|main|top|new|empty|called|named|which|what|is|me|list|show|this|it|and|or|open|each|listing|do|does|contents?|contain|contains|have|has|structure|tree|layout|hierarchy|looks?|with|that|for|please|in|are|where)$/

export function readClause(source: string, tokens: Token[]): Clause {
  const looked = tokens.slice(0, maxLooked)
  const words = looked.map(({ kind, lower }, i) =>
    kind === "word" ? (i ? meantWord(lower) : meantVerb(lower)) : "",
  )
  const lines = linesIn(looked, words)
  const found = { globs: [] as string[], files: [] as string[], folders: [] as string[] }
  const signs = looked.map((token, i) => {
    const sign = signOf(looked, words, i)
    if (sign === "G" || sign === "-")
      found.globs.push(isGlob(token.text) ? token.text : `*.${kindOf(token.text)}`)
    if (sign === "F" || (token.kind === "quote" && isQuotedFile(token.text, words[i - 1] ?? ""))) {
      const { path, from, to } = splitLines(namedFile(token) ?? token.text)
      if (from !== undefined) Object.assign(lines, { from, to })
      found.files.push(path)
    }
    if (sign === "D") found.folders.push(token.text.replace(/(.)\/+$/, "$1"))
    return sign
  })
  return {
    source,
    tokens,
    words,
    shape: signs.join(" "),
    verb: words[0] ?? "",
    quotes: looked.filter(({ kind }) => kind === "quote"),
    urls: looked.flatMap(({ kind, text }) =>
      kind === "url" || (kind === "quote" && /^https?:\/\/\S+$/i.test(text)) ? [text] : [],
    ),
    globs: [...new Set(found.globs)],
    files: [...new Set(found.files)],
    folders: [...new Set(found.folders)],
    lines,
  }
}

function signOf(tokens: Token[], words: string[], i: number): string {
  const token = tokens[i]!
  const [before, word, next] = [words[i - 1] ?? "", words[i]!, words[i + 1] ?? ""]
  if (token.kind === "url") return "U"
  if (token.kind === "mark") return token.text
  const isNamed =
    folderNoun.test(next) ||
    folderNoun.test(before) ||
    (/^(?:called|named)$/.test(before) && folderNoun.test(words[i - 2] ?? ""))
  if (token.kind === "quote") {
    const isOf = before === "of" && /^(?:files?|contents?|everything|listing)$/.test(words[i - 2] ?? "")
    return token.sign !== "```" && (isNamed || isOf) && !isFile(token.text) ? "D" : "Q"
  }
  const { text } = token
  if (isGlob(text)) return "G"
  if (isKind(tokens, words, i)) return "G"
  const named = namedFile(token)
  if (isFile(splitLines(text).path) || (named && next !== "files")) return "F"
  const isPlaced = i === 0 ? words.length === 1 : isFolderHere(words, i)
  if (isFolder(text) && (!isKnownFolder(text) || isNamed || isPlaced)) return "D"
  const isName = /^[\w.@~+-]+$/.test(text) && !article.test(word) && !into.test(word) && !noName.test(word)
  return isNamed && isName && i > 0 && !folderNoun.test(word) ? "D" : word.slice(0, 100)
}

/** "test" and "docs" are folders where a folder is expected, and words elsewhere. */
function isFolderHere(words: string[], i: number): boolean {
  const before = article.test(words[i - 1]!) ? (words[i - 2] ?? "") : words[i - 1]!
  if (/^(?:files?|cases?|suites?|runner|results?|command|it|script)$/.test(words[i + 1] ?? "")) return false
  return (
    into.test(before) ||
    /^-|^(?:|and|or|list|ls|dir|tree|show|me|open|search|scan|grep|browse|view|see|check|inspect|explore|read|does|do)$/.test(
      before,
    )
  )
}

/** "typescript" of "typescript files", ".css and .scss files", "files ending in .ts", "every .txt". */
function isKind(tokens: Token[], words: string[], i: number): boolean {
  const text = tokens[i]!.text
  if (!kindOf(text) || (/^(?:c|h|r)$/.test(words[i]!) && text !== text.toUpperCase())) return false
  if (/^(?:images|pictures|stylesheets)$/.test(words[i]!)) return true
  const rest = words.slice(i + 1, i + 8)
  const after = rest.find(
    (word, at) => !/^(?:and|or|source|test|)$/.test(word) && !kindOf(tokens[i + 1 + at]!.text),
  )
  if (/^(?:files?|sources?|scripts?|documents?|modules?|code|ones)$/.test(after ?? "")) return true
  const before = words.slice(Math.max(0, i - 7), i).join(" ")
  if (
    /\bfiles?\b.*\b(?:extensions?|suffix|type|end(?:s|ing)?(?: (?:in|with))?)(?: (?:is|of|and|or|the|a))*$/.test(
      before,
    )
  )
    return true
  return text.startsWith(".") && text !== ".env" && /\b(?:every|all|any|each)$/.test(before)
}

/** A name with spaces counts only where a file is expected. */
function isQuotedFile(text: string, before: string): boolean {
  if (!isFile(text) || !/^[\w.@/+ ~-]+$/.test(text)) return false
  return (
    !text.includes(" ") ||
    /^(?:files?|read|open|cat|show|view|in|to|into|of|called|named|print|display|me|the|as|inside|from|delete|remove|rm|rename|move|copy)$/.test(
      before,
    )
  )
}

/** The text between two tokens of the clause, as it was written. */
export function slice(clause: Clause, from: number, to = clause.tokens.length): string {
  const part = clause.tokens.slice(from, to)
  const [first, last] = [part[0], part.at(-1)]
  return first && last ? clause.source.slice(first.start, last.end) : ""
}
