// How well a skill fits what was asked, on one scale whatever else is there: the cosine of both plus half of the share of
// the words asked for that the skill's name and description have, rare words counting more. Ranks of an index do not
// say that: they have a best one for every question. Measured in test/knowledge/discovery/skill-fit.test.ts.
import type { SkillInfo } from "./skill-types.ts"

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
const unparted = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]/u
const empty = new Set(
  [
    "a an and are as at be by for from in is it its of on or that the this to with we our i me my you your us he she his her",
    "what which why how does do did when where who if then there here not no can could would should will was were am been has have had",
    "new use make write add need want like get go up out one some any other more just now also only too very so all please thanks",
    "into them their they about than but",
  ]
    .join(" ")
    .split(" "),
)

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
    skills.map(({ name, description }) => [name, textWords(`${name} ${description}`)] as const),
  )
  const counts = new Map<string, number>()
  for (const words of wordsOf.values())
    for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  const weightOf = (word: string) => Math.log(1 + skills.length / (counts.get(word) ?? unseen))
  return (piece, name) => {
    const own = wordsOf.get(name)
    let [shared, all] = [0, doubt]
    for (const word of textWords(piece)) {
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

/** Scripts that part no words give pairs of letters. */
function textWords(text: string): Set<string> {
  const parted = text.replace(/(\p{Ll}|\p{N})(?=\p{Lu})/gu, "$1 ").toLowerCase()
  const words = new Set<string>()
  for (const [run] of parted.matchAll(/[\p{L}\p{M}\p{N}]+/gu))
    if (unparted.test(run)) for (let i = 0; i + 1 < run.length; i++) words.add(run.slice(i, i + 2))
    else if (run.length > 1 && !empty.has(run)) words.add(stemOf(run))
  return words
}

/** Rough, and the same on both sides. */
function stemOf(word: string): string {
  return word
    .replace(/ies$/, "y")
    .replace(/(ing|ed|es|s)$/, "")
    .replace(/e$/, "")
}
