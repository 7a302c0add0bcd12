// Texts as the words that FTS5 is given. Identifiers are cut at their capitals and punctuation and kept whole as well;
// scripts without spaces become overlapping pairs of characters; an emoji is a word.
import { stopWords } from "./stop-words.ts"

const maxText = 20_000
const maxWords = 64
const ascii = /^[\0-\x7f]*$/
/** Whether there is an identifier to cut at all. */
const joined = /[\p{L}\p{N}][-_][\p{L}\p{N}]|[\p{Ll}\p{N}]\p{Lu}/u
const identifiers = /[\p{L}\p{N}]+(?:[-_]+[\p{L}\p{N}]+)*/gu
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー]+/gu
const overlong = /([\p{L}\p{N}\p{M}]{64})[\p{L}\p{N}\p{M}]+/gu
const pictures = /\p{Extended_Pictographic}/gu
const words = /[\p{L}\p{N}\p{M}\p{So}\p{Co}]+/gu

/** A text with its words apart. What stands in an index and what is asked are spelled the same way. */
export function spell(text: string): string {
  const short = text.slice(0, maxText)
  if (ascii.test(short)) return cut(short).replace(overlong, "$1")
  const plain = cut(short.toWellFormed().replaceAll("\ufffd", " ").normalize("NFKC"))
  return plain.replace(unspaced, pairs).replace(pictures, " $& ").replace(overlong, "$1")
}

/** The words of a query that say something, each once; all of them when none does. */
export function queryWords(query: string): string[] {
  const found = new Set<string>()
  for (const word of spell(query).match(words) ?? []) found.add(word.toLowerCase())
  const telling = [...found].filter((word) => !stopWords.has(word))
  return (telling.length ? telling : [...found]).slice(0, maxWords)
}

/** `readTextFile` and `read_text_file` are three words, and one. */
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
