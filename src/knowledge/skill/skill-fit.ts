// Scores how well a skill fits a request: the cosine of their embeddings, plus the share of the request's words that are in
// the name or description of the skill. Rare words count more. Unlike ranks, scores of different requests can be compared
// with one threshold. docs/retrieval.md says how the numbers were chosen.
import { significantWords } from "#knowledge/index/significant-words.ts"
import type { SkillInfo } from "./skill-types.ts"

type Described = Pick<SkillInfo, "name" | "description">
/** `share` is the weighted share, from 0 to 1; `shared` is the number of shared words. `isForFile`: the request names a file
 * whose extension the skill names, too. */
export type Overlap = { share: number; shared: number; isForFile: boolean }

/** From this score on, the instructions of a skill are sent although nobody asked for the skill. */
const fits = 0.54
/** The threshold if only one word is shared, which is often chance: "release the lock" does not ask for a release. */
const fitsByOneWord = 0.6
/** The threshold for a second skill. */
const fitsToo = 0.7

const maxIntent = 4_000
const maxPieces = 8
const shareWeight = 0.9
/** Added if the request names a file, such as "report.pdf", whose extension the skill names. */
const fileBonus = 0.25
/** The weight of the share if there are no embeddings: a share of 0.3 reaches the threshold. */
const shareAlone = fits / 0.3
/** A word that no skill has counts as if this many skills had it, so that it weighs a little more than a word of one
 * skill. */
const unseen = 0.7
/** Added to the weight of all words, so that a request of one word never reaches a share of 1. */
const doubt = 1
/** Words that say nothing about which skill is meant. */
const empty = new Set("add go make new one thanks us use write".split(" "))

const sentence = /(?<=[.!?])\s+/
const refusal = /^(?:(?:please )?(?:do not|don['’]t|never|not|skip|avoid)\b)/i
/** An exception in a description, up to the end of the sentence. */
const exception =
  /[,;:(–—-]?\s*\b(?:but )?(?:not (?:for|when|if|to be)|never (?:for|when)|(?:do not|don['’]t) (?:use|trigger))\b.*$/is

/** The parts of a request that are scored separately, the whole first: one sentence of many may say what is wanted. */
export function piecesOf(intent: string): string[] {
  const whole = intent.slice(0, maxIntent).trim()
  const pieces = whole
    .split(/(?<=[.!?])\s+|\n+/)
    .map((piece) => piece.trim())
    .filter((piece) => piece.length > 3)
  return pieces.length > 1 ? [whole, ...pieces.slice(0, maxPieces)] : [whole]
}

/** Returns a function that compares the words of a part of a request with those of a skill. */
export function createOverlap(skills: readonly Described[]): (piece: string, name: string) => Overlap {
  const wordsOf = new Map(
    skills.map(
      ({ name, description }) =>
        [name, significantWords(`${name} ${skillClaims(description)}`, empty)] as const,
    ),
  )
  const kindsOf = new Map(
    skills.map(
      ({ name, description }) => [name, new Set([name, ...kindsIn(skillClaims(description))])] as const,
    ),
  )
  const counts = new Map<string, number>()
  for (const words of wordsOf.values())
    for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  // Normalised, so that a word of a single skill weighs 1, however many skills there are.
  const rarest = Math.log(1 + skills.length)
  const weightOf = (word: string) => Math.log(1 + skills.length / (counts.get(word) ?? unseen)) / rarest
  return (piece, name) => {
    const own = wordsOf.get(name)
    let [common, all, shared] = [0, doubt, 0]
    for (const word of significantWords(piece, empty)) {
      const weight = weightOf(word)
      all += weight
      if (!own?.has(word)) continue
      common += weight
      shared++
    }
    const isForFile = kindsIn(piece).some((kind) => kindsOf.get(name)?.has(kind))
    return { share: common / all, shared, isForFile }
  }
}

/** File extensions in a text: of `report.pdf`, or a bare `.pdf`. */
function kindsIn(text: string): string[] {
  return [...text.matchAll(/(?<![\w/])[\w/-]*\.([a-z]{2,5}\d?)\b(?!\.\w)/gi)].map(([, kind]) =>
    kind!.toLowerCase(),
  )
}

/** `cosine` is undefined where there are no vectors. */
export function fitOf(options: Omit<Overlap, "shared"> & { cosine: number | undefined }): number {
  const { share, isForFile, cosine } = options
  const words = cosine === undefined ? shareAlone * share : cosine + shareWeight * share
  return words + (isForFile ? fileBonus : 0)
}

/** Chooses the skills whose instructions are sent: the best one, and a second one if it fits very well. `matches` must be
 * sorted, best first. */
export function takeFitting<T extends Pick<Overlap, "shared"> & { fit: number }>(matches: readonly T[]): T[] {
  const fitting = matches.filter(({ fit, shared }) => fit >= (shared === 1 ? fitsByOneWord : fits))
  return fitting.slice(0, 2).filter(({ fit }, at) => at === 0 || fit >= fitsToo)
}

/** The sentences of a description that say what the skill is for. Many descriptions also say what it is not for ("Do
 * NOT use it for PDFs"); those words must not find the skill. */
export function skillClaims(description: string): string {
  return description
    .split(sentence)
    .filter((part) => !refusal.test(part.trim()))
    .map((part) => part.replace(exception, ""))
    .join(" ")
}
