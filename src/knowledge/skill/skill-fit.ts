// How well a skill fits a request, on one scale for all requests: the cosine of both, plus the share of the words of the
// request that the name and description of the skill have, where rare words count more. Ranks of an index do not say that:
// every request has a best hit. docs/retrieval.md says how the numbers were chosen.
import { significantWords } from "#knowledge/index/significant-words.ts"
import type { SkillInfo } from "./skill-types.ts"

type Described = Pick<SkillInfo, "name" | "description">
/** `share` is from 0 to 1; `shared` is how many words that is. `isForFile`: a file is named whose kind the skill names. */
export type Overlap = { share: number; shared: number; isForFile: boolean }

/** From this score on, the instructions of a skill are sent without being asked for. */
const fits = 0.54
/** For one shared word, which is often there by chance: "release the lock" is about no release. */
const fitsByOneWord = 0.6
/** For a second skill: it must be asked for as well. */
const fitsToo = 0.7

const maxIntent = 4_000
const maxPieces = 8
const shareWeight = 0.9
/** For a named file of a kind that the skill names: "report.pdf". */
const fileBonus = 0.25
/** By words alone: three of ten are as much as the threshold. */
const shareAlone = fits / 0.3
/** A word that no skill has counts a little more than one that a single skill has, which counts 1. */
const unseen = 0.7
/** Added to the weight of all words, so that one shared word of one is not a full match. */
const doubt = 1
/** Words of requests about any skill. */
const empty = new Set("add go make new one thanks us use write".split(" "))

const sentence = /(?<=[.!?])\s+/
const refusal = /^(?:(?:please )?(?:do not|don['’]t|never|not|skip|avoid)\b)/i
/** From there to the end of its sentence. */
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

/** The words that a part shares with skills, by skill name. */
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
  // The same for a rare word whether there are three skills or three hundred.
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

/** Endings of file names: of `report.pdf`, and of a bare `.pdf`. */
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

/** Of matches, the best first: those that are sent to the model unasked, one, or two if both are wanted. */
export function takeFitting<T extends Pick<Overlap, "shared"> & { fit: number }>(matches: readonly T[]): T[] {
  const fitting = matches.filter(({ fit, shared }) => fit >= (shared === 1 ? fitsByOneWord : fits))
  return fitting.slice(0, 2).filter(({ fit }, at) => at === 0 || fit >= fitsToo)
}

/** What a description says that a skill is for. Many also say what it is not for ("Do NOT use it for PDFs"); those words
 * must not find the skill. */
export function skillClaims(description: string): string {
  return description
    .split(sentence)
    .filter((part) => !refusal.test(part.trim()))
    .map((part) => part.replace(exception, ""))
    .join(" ")
}
