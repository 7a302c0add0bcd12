// Whether a document that was found is worth telling, or only the nearest of those that are there. Neither the nearness of
// vectors nor shared words alone can say so: the first is never nothing, the second are often by chance.
import { tellingWords } from "./telling-words.ts"

/** `cosine` is undefined where there is none. `keys` are what a document is called: its links, its headings, its path. */
export type Found = { cosine: number | undefined; keys: string; text: string }

/** What people ask for says nothing of what it is about. */
const empty = new Set(
  `add change code continue create file files find fix folder function go hello help last line lines list look make md new one
  put read remove rename replace run see set show thank thanks update use write yes`.split(/\s+/),
)

/** Chosen on 46 requests of which about half have to do with one of 12 documents: 17 of 22 find it, and none of the other
 * 24 finds one; among 15 long documents of another project, 2 of the 24 do. */
export function fitsIntent(intent: string, { cosine, keys, text }: Found): boolean {
  const wanted = tellingWords(intent, empty)
  const inKeys = tellingWords(keys, empty)
  const inText = tellingWords(text, empty)
  const named = [...wanted].filter((word) => inKeys.has(word)).length
  const shared = [...wanted].filter((word) => inKeys.has(word) || inText.has(word)).length
  if (cosine === undefined) return shared >= 3 || (shared >= 2 && named >= 1)
  if (cosine >= 0.5) return true
  if (cosine >= 0.4) return shared >= 1
  return cosine >= 0.25 && (named >= 1 || shared >= 2)
}
