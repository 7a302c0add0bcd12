// Where something shall be looked for: folders and how people point at them.
import type { Clause } from "./clause.ts"
import { endingOf, isFile, isFolder, isGlob } from "./recognize.ts"
import type { Token } from "./tokens.ts"

export const into = new Set([
  "in",
  "inside",
  "under",
  "within",
  "from",
  "below",
  "of",
  "across",
  "at",
  "through",
  "into",
  "beneath",
  "throughout",
  "over",
  "to",
])
const articles = new Set([
  "the",
  "a",
  "an",
  "my",
  "our",
  "your",
  "this",
  "that",
  "all",
  "every",
  "any",
  "each",
])
const here =
  /^(?:here|project|repo|repository|codebase|code|workspace|directory|folder|it|there|files|them|root|tree|base|this|app)$/

/** Folders after "in", "under" and the like, or before "folder"; all of them, for "list src and test". */
export function foldersIn({ tokens, words }: Pick<Clause, "tokens" | "words">): string[] {
  const found: string[] = []
  for (let i = 0; i < words.length; i++) {
    const token = tokens[i]!
    const isQuoted = token.kind === "quote"
    if (!isQuoted && token.kind !== "word") continue
    const noun =
      /^(?:folder|directory|dir|subfolder|subdirectory|package|module)s?$/.test(words[i + 1] ?? "") &&
      !(tokens[i + 2] && isFolder(tokens[i + 2]!.text))
    const named =
      /^(?:folder|directory|dir)$/.test(words[i - 1] ?? "") ||
      (/^(?:called|named)$/.test(words[i - 1] ?? "") && /^(?:folder|directory|dir)$/.test(words[i - 2] ?? ""))
    const plain =
      (/^[\w.@/~+ -]+$/.test(token.text) || isFolder(token.text)) &&
      !articles.has(token.lower) &&
      !into.has(token.lower) &&
      (isQuoted || !/^(?:for|with|and|or|where|but|as|by|who|if|so|then|also)$/.test(token.lower)) &&
      // "list out everything"
      !(token.lower === "out" && i === 1 && words.length > 2)
    const isHere =
      here.test(token.lower) ||
      /^(?:current|same|hidden|parent|top-level|working|local|other|each|first|last|only|whole|entire|root|main|top|test|source|called|named|which|with|that|and|is|listing|structure|tree|contents?|new|empty|contains?|have|has|are|layout|hierarchy|look|looks|please|does|do)$/.test(
        token.lower,
      )
    if (i > 0 && (noun || named) && plain && !(isHere && !isFolder(token.text)) && !isGlob(token.text))
      found.push(token.text)
    else if (isQuoted && plain && !isFile(token.text) && isQuotedPlace(tokens, words, i))
      found.push(token.text)
    else if (
      isFolder(token.text) &&
      (!isQuoted || into.has(words[i - 1] ?? "")) &&
      isPlaced(token.text, words, i)
    ) {
      if (!/^(?:files?|cases?|suites?|runner|results?|command)$/.test(words[i + 1] ?? ""))
        found.push(token.text)
    }
  }
  return [...new Set(found.map(clean))]
}

/** "in 'My Documents'": behind what is looked for, or where nothing is looked for. */
function isQuotedPlace(tokens: Token[], words: string[], at: number): boolean {
  const isOf =
    words[at - 1] === "of" &&
    /^(?:files?|contents?|everything|listing|stuff|structure|entries|items)$/.test(words[at - 2] ?? "")
  if (!isOf && !/^(?:in|inside|under|within)$/.test(words[at - 1] ?? "")) return false
  const isSearch =
    /^(?:search|grep|find|look|replace|change|write|put|save|add|insert|scan|rename|store|remove|append)$/.test(
      words[0] ?? "",
    )
  return (
    !isSearch ||
    (tokens.slice(0, at).some(({ kind }) => kind === "quote") &&
      /^(?:search|grep|find|look|scan)$/.test(words[0]!))
  )
}

/** A word such as "tests" is a folder only where one can stand. */
function isPlaced(text: string, words: string[], at: number): boolean {
  if (/[/.~]/.test(text)) return true
  const before = articles.has(words[at - 1] ?? "") ? words[at - 2] : words[at - 1]
  if (before === undefined) return words.length === 1
  return (
    into.has(before) ||
    /^-|^(?:|and|or|&|list|ls|dir|tree|show|me|open|search|scan|grep|browse|view|see|look|check|both|inspect|read|explore|folder|directory|called|named|whether|if|does|do|is)$/.test(
      before,
    )
  )
}

export function placeIn(tokens: Token[], words: string[]): string | undefined {
  const folders = foldersIn({ tokens, words })
  if (folders.length) return folders.at(-1)
  // "in foo" at the end: a bare word can be a folder, too.
  for (let i = words.length - 1; i > 0; i--) {
    const token = tokens[i]!
    const before = words[i - 1]!
    if (
      token.kind === "word" &&
      /^(?:in|inside|under|within|below)$/.test(before) &&
      /^[A-Za-z][\w.-]*$/.test(token.text)
    ) {
      if (here.test(token.lower) || articles.has(token.lower) || isFile(token.text) || endingOf(token.text))
        continue
      const next = tokens[i + 1]
      if (next === undefined || next.kind === "mark") return clean(token.text)
    }
  }
  return undefined
}

function clean(path: string): string {
  return path.length > 1 ? path.replace(/\/+$/, "") : path
}
