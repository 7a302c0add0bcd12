// Splits texts into words for FTS5. Identifiers are split at capitals and punctuation, and also kept whole; scripts without
// spaces become overlapping pairs of characters; an emoji is a word.
import { stopWords } from "./significant-words.ts"

const maxText = 20_000
const maxWords = 64
const ascii = /^[\0-\x7f]*$/
/** Matches texts with an identifier to split. */
const joined = /[\p{L}\p{N}][-_][\p{L}\p{N}]|[\p{Ll}\p{N}]\p{Lu}/u
const identifiers = /[\p{L}\p{N}]+(?:[-_]+[\p{L}\p{N}]+)*/gu
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー]+/gu
const overlong = /([\p{L}\p{N}\p{M}]{64})[\p{L}\p{N}\p{M}]+/gu
const pictures = /\p{Extended_Pictographic}/gu
const words = /[\p{L}\p{N}\p{M}\p{So}\p{Co}]+/gu

/** A text as words with spaces between them. Documents and queries are split the same way. */
export function spell(text: string): string {
  const short = text.slice(0, maxText)
  if (ascii.test(short)) return cut(short).replace(overlong, "$1")
  const plain = cut(short.toWellFormed().replaceAll("\ufffd", " ").normalize("NFKC"))
  return plain.replace(unspaced, pairs).replace(pictures, " $& ").replace(overlong, "$1")
}

/** The words of a query without stop words, each once; with them if there are no others. */
export function queryWords(query: string): string[] {
  const found = new Set<string>()
  for (const word of spell(query).match(words) ?? []) found.add(word.toLowerCase())
  const significant = [...found].filter((word) => !stopWords.has(word))
  return (significant.length ? significant : [...found]).slice(0, maxWords)
}

/** `readTextFile` and `read_text_file` become "read text file readTextFile". */
function cut(text: string): string {
  if (!joined.test(text)) return text
  return text.replace(identifiers, (whole) => {
    const parts = splitName(whole)
    return parts.length < 2 ? whole : `${parts.join(" ")} ${parts.join("")}`
  })
}

function splitName(name: string): string[] {
  return name.replace(/([\p{Ll}\p{N}])(?=\p{Lu})|(\p{Lu})(?=\p{Lu}\p{Ll})/gu, "$1$2 ").split(/[-_ ]+/)
}

function pairs(run: string): string {
  const signs = [...run]
  return ` ${signs.map((sign, at) => sign + (signs[at + 1] ?? "")).join(" ")} `
}
