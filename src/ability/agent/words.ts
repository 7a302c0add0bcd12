// The words of a request and of what agents say of themselves, in a form in which "bugs" and "bug", "testing" and
// "test" are the same.

const empty = new Set(
  "a an the and or of to in on at for with from by is are be it its this that these my me i you your we our please do does can could would should will".split(
    " ",
  ),
)

/** All words in order, each as its stem. Any script counts; "data.analyze" and "bugFix" are two words. */
export function wordsOf(text: string): string[] {
  return split(text).map(stem)
}

/** Those that say something: the stem of each, and how it was written. */
export function tellingWords(text: string): Map<string, string> {
  return new Map(
    split(text)
      .filter((word) => !empty.has(word))
      .map((word) => [stem(word), word]),
  )
}

/** Whether the words of a phrase follow one another in the text. */
export function hasPhrase(text: readonly string[], phrase: readonly string[]): boolean {
  if (phrase.length === 0) return false
  return text.some((_, i) => phrase.every((word, j) => text[i + j] === word))
}

function split(text: string): string[] {
  const apart = text.normalize("NFKC").replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
  return apart.toLowerCase().match(/[\p{L}\p{N}\p{M}]+/gu) ?? []
}

/** Rough, and the same on both sides, which is all that is needed. */
function stem(word: string): string {
  if (!/^[a-z]{4,}$/.test(word)) return word
  const short = word.replace(/(?<=[a-z]{3})(?:ing|ed|ers?|es|s)$/, "")
  return short.replace(/(?<=[a-z]{2})([^aeiouls])\1$/, "$1").replace(/(?<=[a-z]{3})e$/, "")
}
