// Compares texts by their significant words, which are words without stop words, as stems. Scripts without word breaks
// give pairs of letters. `fitsIntent` decides whether a document that was found really fits a request, or is only the
// nearest one. Neither vectors nor shared words alone can tell: vectors always have a nearest one, and words are often
// shared by chance.

/** `cosine` is undefined without an embedder. `keys`: the names of a document, such as link texts, headings and path. */
export type Found = { cosine: number | undefined; keys: string; text: string }

/** Words of many requests that do not say what a request is about. */
const emptyInRequests = new Set(
  `add change code continue create file files find fix folder function go hello help last line lines list look make md new one
  put read remove rename replace run see set show thank thanks update use write yes`.split(/\s+/),
)
const unspaced = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]/u
/** Words of nearly every text, which distinguish none. */
export const stopWords: ReadonlySet<string> = new Set(
  `a about above after again all also am an and any anyone anything are as at be because been before being below between both
  but by can cannot could did do does doing down during each few for from further get give had has have having he her here
  hers him his how i if in into is it its itself just let like ll m may me might more most my myself need no nor not now of
  off on once only or other our ours out over own please re s same she should so some something such t tell than that the
  their theirs them then there these they this those through to too under until up ve very want was we were what when where
  which while who whom why will with would you your yours`.split(/\s+/),
)

/** The thresholds were chosen on 46 requests and 12 documents. Of 22 requests that a document fits, 17 find it; of the
 * other 24, none finds one. Among 15 long documents of another project, 2 of the 24 do. */
export function fitsIntent(intent: string, { cosine, keys, text }: Found): boolean {
  const wanted = significantWords(intent, emptyInRequests)
  const inKeys = significantWords(keys, emptyInRequests)
  const inText = significantWords(text, emptyInRequests)
  const named = [...wanted].filter((word) => inKeys.has(word)).length
  const shared = [...wanted].filter((word) => inKeys.has(word) || inText.has(word)).length
  if (cosine === undefined) return shared >= 3 || (shared >= 2 && named >= 1)
  if (cosine >= 0.5) return true
  if (cosine >= 0.4) return shared >= 1
  return cosine >= 0.25 && (named >= 1 || shared >= 2)
}

/** `empty`: words that do not count, beside the stop words. */
export function significantWords(text: string, empty: ReadonlySet<string>): Set<string> {
  const spaced = text.replace(/(\p{Ll}|\p{N})(?=\p{Lu})/gu, "$1 ").toLowerCase()
  const words = new Set<string>()
  for (const [run] of spaced.matchAll(/[\p{L}\p{M}\p{N}]+/gu))
    if (unspaced.test(run)) for (let i = 0; i + 1 < run.length; i++) words.add(run.slice(i, i + 2))
    else if (run.length > 1 && !stopWords.has(run) && !empty.has(run)) words.add(stemOf(run))
  return words
}

/** A rough stem, computed the same way for both texts. */
function stemOf(word: string): string {
  return word
    .replace(/ies$/, "y")
    .replace(/(?:ings?|ions?|ed|es|s)$/, "")
    .replace(/e$/, "")
}
