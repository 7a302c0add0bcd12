// How well a skill fits what was asked, on one scale whatever else is there: the cosine of both plus the share of the
// words asked for that the skill's name and description have, rare words counting more. Ranks of an index do not say that:
// they have a best one for every question. How the numbers were chosen is told in docs/retrieval.md.

import { tellingWords } from "#knowledge/index/telling-words.ts"
import { skillClaims } from "./skill-claims.ts"
import type { SkillInfo } from "./skill-types.ts"

type Described = Pick<SkillInfo, "name" | "description">
/** `share` is from 0 to 1; `shared` is how many words that is. `isForFile`: a file is named whose kind the skill names. */
export type Overlap = { share: number; shared: number; isForFile: boolean }

/** From here on a skill is worth its instructions without having been called for. */
const fits = 0.54
/** One shared word is in both parts of the sum, and often there by chance: "release the lock" is about no release. */
const fitsByOneWord = 0.6
/** A second one must be asked for as well, not only be near. */
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
/** So that one shared word of one is not all there is to know. */
const doubt = 1
/** What people ask for, whatever the skill. */
const empty = new Set("add go make new one thanks us use write".split(" "))

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
      ({ name, description }) => [name, tellingWords(`${name} ${skillClaims(description)}`, empty)] as const,
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
    for (const word of tellingWords(piece, empty)) {
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
