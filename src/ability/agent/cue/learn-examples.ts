// How much a request is like the examples of each owner: by the words and pairs of words that are frequent there (naive
// Bayes), and by its meaning where the embedder is present.
import { createVectors, type Vectors } from "#knowledge/embedder/vectors.ts"
import { readRequest, type Token } from "./read-request.ts"

/** `nearest`: the example that is closest in its meaning. */
export type Likeness = { owner: string; score: number; nearest?: string }
export type Embed = (text: string) => Float32Array

const smoothing = 0.3
/** The weights of both comparisons, beside the weights of cues. */
const [wordWeight, meaningWeight] = [0.5, 20]
/** Examples of an owner that are compared in their meaning: the nearest ones. */
const neighbours = 8
/** Features of a request of ordinary length. The many words of a long one must not outweigh its cues. */
const usualFeatures = 24
/** Characters whose meaning is compared. */
const maxText = 2_000

export function learnExamples(texts: Readonly<Record<string, string>>, embed: Embed | null) {
  const owners = Object.entries(texts).map(([owner, text]) => {
    const requests = text.split("|").map((one) => one.trim())
    return { owner, requests, counts: countFeatures(requests) }
  })
  const known = new Set(owners.flatMap(({ counts }) => [...counts.keys()]))
  const table =
    embed &&
    embedAll(
      owners.flatMap(({ requests }) => requests),
      embed,
    )

  /** The scores of all owners; their mean is 0. */
  function compare(input: string, tokens: readonly Token[]): Likeness[] {
    const features = [...featuresOf(tokens)].filter((feature) => known.has(feature))
    const scale = wordWeight * Math.min(1, usualFeatures / (features.length || 1))
    const cosines = embed && table?.scores(embed(input.slice(0, maxText)))
    let from = 0
    const found = owners.map(({ owner, requests, counts }): Likeness => {
      const all = requests.length + smoothing * owners.length
      const words = features.map((feature) => Math.log(((counts.get(feature) ?? 0) + smoothing) / all))
      if (!cosines) return { owner, score: scale * sum(words) }
      const own = cosines.slice(from, from + requests.length)
      from += requests.length
      const top = own.toSorted().subarray(-neighbours)
      const score = scale * sum(words) + (meaningWeight * sum([...top])) / neighbours
      return { owner, score, nearest: requests[own.indexOf(top.at(-1)!)]! }
    })
    const mean = sum(found.map(({ score }) => score)) / found.length
    return found.map((likeness) => ({ ...likeness, score: likeness.score - mean }))
  }

  return Object.freeze({ compare })
}

function countFeatures(requests: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const request of requests)
    for (const feature of featuresOf(readRequest(request)))
      counts.set(feature, (counts.get(feature) ?? 0) + 1)
  return counts
}

/** One row per request. */
function embedAll(requests: readonly string[], embed: Embed): Vectors {
  const vectors = requests.map(embed)
  const table = createVectors(vectors[0]!.length)
  for (const [row, vector] of vectors.entries()) table.put(row, vector)
  return table
}

/** The words, the pairs of neighbours, and the word that the request begins with. Excluded words are other words. */
function featuresOf(tokens: readonly Token[]): Set<string> {
  const words = tokens.map(({ stem, isExcluded }) => (isExcluded ? `!${stem}` : stem))
  const pairs = ["^", ...words].map((word, at) => `${word} ${words[at] ?? "$"}`)
  const head = tokens.find((token) => token.head)?.stem ?? ""
  return new Set([...words, ...pairs, `^${head}`])
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
