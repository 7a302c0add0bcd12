// Words of requests and of descriptions, reduced to stems so that "bugs" matches "bug".

/** Words without a topic of their own. */
const stopWords = new Set(
  "a an the and or of to in on at for with from by is are be it its this that these my me i you your we our please do does can could would should will".split(
    " ",
  ),
)

/** The stems of all words in order. In any script; "data.analyze" and "bugFix" are two words. */
export function wordsOf(text: string): string[] {
  return split(text).map(stem)
}

/** All words except stop words: the stem of each, and how it was written. */
export function keywordsOf(text: string): Map<string, string> {
  return new Map(
    split(text)
      .filter((word) => !stopWords.has(word))
      .map((word) => [stem(word), word]),
  )
}

/** True if the words of a phrase follow one another in the text. */
export function hasPhrase(text: readonly string[], phrase: readonly string[]): boolean {
  if (phrase.length === 0) return false
  return text.some((_, i) => phrase.every((word, j) => text[i + j] === word))
}

/** Words whose rough stem would be another word. */
const irregular: Readonly<Record<string, string>> = {
  note: "note",
  notes: "note",
  plane: "plane",
  planes: "plane",
  news: "news",
  booking: "booking",
  staging: "staging",
  does: "does",
  this: "this",
  terms: "terms",
  minutes: "minutes",
}

/** A rough stem is enough, because both sides use the same. */
export function stem(word: string): string {
  if (!/^[a-z]{4,}$/.test(word)) return word
  if (Object.hasOwn(irregular, word)) return irregular[word]!
  const short = word.replace(/(?<=[a-z]{3})(?:ing|ed|es|s)$/, "")
  return short.replace(/(?<=[a-z]{2})([^aeiouls])\1$/, "$1").replace(/(?<=[a-z]{3})e$/, "")
}

function split(text: string): string[] {
  const apart = text.normalize("NFKC").replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
  return apart.toLowerCase().match(/[\p{L}\p{N}\p{M}]+/gu) ?? []
}
