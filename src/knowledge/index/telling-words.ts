// The significant words of a text as stems, so that two texts can be compared. Scripts without word breaks give pairs
// of letters.
import { stopWords } from "./stop-words.ts"

const unparted = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]/u

/** Without those that are `empty` besides the usual ones. */
export function tellingWords(text: string, empty: ReadonlySet<string>): Set<string> {
  const parted = text.replace(/(\p{Ll}|\p{N})(?=\p{Lu})/gu, "$1 ").toLowerCase()
  const words = new Set<string>()
  for (const [run] of parted.matchAll(/[\p{L}\p{M}\p{N}]+/gu))
    if (unparted.test(run)) for (let i = 0; i + 1 < run.length; i++) words.add(run.slice(i, i + 2))
    else if (run.length > 1 && !stopWords.has(run) && !empty.has(run)) words.add(stemOf(run))
  return words
}

/** Rough, and the same on both sides. */
function stemOf(word: string): string {
  return word
    .replace(/ies$/, "y")
    .replace(/(?:ings?|ions?|ed|es|s)$/, "")
    .replace(/e$/, "")
}
