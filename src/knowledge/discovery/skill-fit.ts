// How well a skill fits what was asked, on one scale whatever else is there: the cosine of both plus half of the share of
// the words asked for that the skill's name and description have, rare words counting more. Ranks of an index do not
// say that: they have a best one for every question. Measured in test/knowledge/discovery/skill-fit.test.ts.
import type { SkillInfo } from "./skill-types.ts"
import { tellingWords } from "./telling-words.ts"

type Described = Pick<SkillInfo, "name" | "description">

/** From here on a skill is worth its words without having been called for. */
export const fitThreshold = 0.44

const maxIntent = 4_000
const maxPieces = 8
const shareWeight = 0.5
/** By words alone: three of ten are as much as the threshold. */
const shareAlone = fitThreshold / 0.3
/** A word that no skill has counts a little more than one that a single skill has. */
const unseen = 0.7
/** So that one shared word of one is not all there is to know. */
const doubt = 1.5
/** What people ask for, whatever the skill. */
const empty = new Set("add go make new one thanks us use write".split(" "))

/** The parts of an intent that are looked at on their own, the whole first: one sentence of many may say what is wanted. */
export function piecesOf(intent: string): string[] {
  const whole = intent.slice(0, maxIntent).trim()
  const pieces = whole
    .split(/(?<=[.!?])\s+|\n+/)
    .map((piece) => piece.trim())
    .filter((piece) => piece.length > 3)
  return pieces.length > 1 ? [whole, ...pieces.slice(0, maxPieces)] : [whole]
}

/** The share of a piece's words that a skill has, for skills by name. */
export function createShare(skills: readonly Described[]): (piece: string, name: string) => number {
  const wordsOf = new Map(
    skills.map(({ name, description }) => [name, tellingWords(`${name} ${description}`, empty)] as const),
  )
  const counts = new Map<string, number>()
  for (const words of wordsOf.values())
    for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  const weightOf = (word: string) => Math.log(1 + skills.length / (counts.get(word) ?? unseen))
  return (piece, name) => {
    const own = wordsOf.get(name)
    let [shared, all] = [0, doubt]
    for (const word of tellingWords(piece, empty)) {
      const weight = weightOf(word)
      all += weight
      if (own?.has(word)) shared += weight
    }
    return shared / all
  }
}

/** `cosine` is undefined where there are no vectors. */
export function fitOf({ share, cosine }: { share: number; cosine: number | undefined }): number {
  return cosine === undefined ? shareAlone * share : cosine + shareWeight * share
}
