// Finds cues in a request: words and phrases from which people can be understood. Longer cues hide the shorter ones inside
// them, of every specialist: in "search the web" the word "search" says nothing.
import type { Token } from "./read-request.ts"
import { stem } from "./words.ts"

/** Cues of one owner by weight; alternatives are separated by `|`. `a/b`: one of these words. `_`: up to four words. `^`: at
 * the start of a clause. `$`: the request ends. `URL`, `FILE`, `CODE`, `QUOTE`, `NUMBER` stand for such tokens. */
export type CueText = Readonly<Record<string, string>>
type Step = { any: ReadonlySet<string> } | "gap" | "end"
type Cue = {
  owner: string
  weight: number
  text: string
  atHead: boolean
  steps: Step[]
  isNegative: boolean
}
export type Cues = Readonly<{
  byFirst: ReadonlyMap<string, Cue[]>
  stems: ReadonlySet<string>
  typos: ReadonlyMap<string, string[]>
}>
export type Match = { owner: string; weight: number; text: string; start: number; end: number }

const maxGap = 4
const kinds = /^(?:URL|FILE|CODE|QUOTE|NUMBER)$/
const negations = new Set(["dont", "not", "never", "no", "without"])
/** Shorter words have too many neighbours. */
const minTypo = 6
/** If no cue has another weight for it. */
const keywordWeight = 1

/** `keywords` of an owner are cues too. */
export function createCues(
  texts: Readonly<Record<string, CueText>>,
  keywords: Readonly<Record<string, readonly string[]>> = {},
): Cues {
  const byFirst = new Map<string, Cue[]>()
  const words = new Set<string>()
  for (const [owner, byWeight] of Object.entries(texts))
    for (const [weight, line] of [
      ...Object.entries(byWeight),
      [keywordWeight, (keywords[owner] ?? []).join("|")],
    ] as const)
      for (const text of line.split("|").filter(Boolean)) {
        const cue = parseCue(owner, Number(weight), text.trim())
        const [first] = cue.steps as [{ any: ReadonlySet<string> }]
        for (const word of first.any) addTo(byFirst, word, cue)
        for (const word of text.match(/[a-z]+/g) ?? []) words.add(word)
      }
  return { byFirst, stems: new Set([...words].map(stem)), typos: neighbours(words) }
}

export function matchCues(tokens: readonly Token[], cues: Cues): Match[] {
  const stems = tokens.map(({ stem: form, word }) =>
    /^\d+$/.test(form) ? "NUMBER" : corrected(form, word, cues),
  )
  const found: Match[] = []
  for (let start = 0; start < tokens.length; start++)
    for (const { owner, weight, text, atHead, steps, isNegative } of cues.byFirst.get(stems[start]!) ?? []) {
      const { head, isExcluded } = tokens[start]!
      if ((atHead && !head) || (isExcluded && !isNegative)) continue
      const end = endOf(steps, 1, { at: start + 1, tokens, stems, isNegative })
      if (end !== undefined) found.push({ owner, weight, text, start, end })
    }
  return withoutHidden(found)
}

function parseCue(owner: string, weight: number, text: string): Cue {
  const atHead = text.startsWith("^")
  const steps = text
    .replace(/^\^/, "")
    .split(/\s+/)
    .map((part): Step => {
      if (part === "_") return "gap"
      if (part === "$") return "end"
      return { any: new Set(part.split("/").map((word) => (kinds.test(word) ? word : stem(word)))) }
    })
  const [first] = steps as [{ any: ReadonlySet<string> }]
  return {
    owner,
    weight,
    text: text.replace(/^\^| \$$/g, ""),
    atHead,
    steps,
    isNegative: [...first.any].some((word) => negations.has(word)),
  }
}

type Place = { at: number; tokens: readonly Token[]; stems: readonly string[]; isNegative: boolean }

/** The end of the cue if its steps from `index` on follow at a place. A gap stays inside a clause. */
function endOf(steps: readonly Step[], index: number, place: Place): number | undefined {
  const { at, tokens, stems, isNegative } = place
  const step = steps[index]
  if (step === undefined) return at
  if (step === "end") return at === tokens.length ? at : undefined
  if (step === "gap") {
    for (let skip = 0; skip <= maxGap; skip++) {
      const end = endOf(steps, index + 1, { ...place, at: at + skip })
      if (end !== undefined) return end
      if (tokens[at + skip]?.clause !== tokens[at - 1]!.clause) return undefined
    }
    return undefined
  }
  const token = tokens[at]
  if (!token || token.clause !== tokens[at - 1]!.clause || !step.any.has(stems[at]!)) return undefined
  if (token.isExcluded && !isNegative) return undefined
  return endOf(steps, index + 1, { ...place, at: at + 1 })
}

/** Without cues that lie inside a longer one, and each place once for each owner. */
function withoutHidden(found: readonly Match[]): Match[] {
  const length = (match: Match) => match.end - match.start
  const kept: Match[] = []
  for (const match of [...found].sort((a, b) => length(b) - length(a) || b.weight - a.weight)) {
    const isHidden = kept.some(
      (other) =>
        other.start <= match.start &&
        other.end >= match.end &&
        (length(other) > length(match) || other.owner === match.owner),
    )
    if (!isHidden) kept.push(match)
  }
  return kept.sort((a, b) => a.start - b.start)
}

/** A word of the cues that is one typo away, if the word itself is none. */
function corrected(form: string, word: string, { stems, typos }: Cues): string {
  const lower = word.toLowerCase()
  if (lower.length < minTypo - 1 || stems.has(form) || !/^[a-z]+$/.test(lower)) return form
  for (const one of [lower, ...shorter(lower)]) {
    const known = typos.get(one)?.find((other) => isTypo(lower, other))
    if (known !== undefined) return stem(known)
  }
  return form
}

/** A letter too many, one too few, or two that changed places. */
function isTypo(word: string, known: string): boolean {
  if (word[0] !== known[0]) return false
  if (word.length !== known.length) {
    const [long, short] = word.length > known.length ? [word, known] : [known, word]
    return shorter(long).includes(short)
  }
  const at = Array.from(word).findIndex((letter, i) => letter !== known[i])
  return (
    word[at] === known[at + 1] && word[at + 1] === known[at] && word.slice(at + 2) === known.slice(at + 2)
  )
}

/** Long words by what is left of them without one letter. */
function neighbours(words: ReadonlySet<string>): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const word of words) {
    if (word.length >= minTypo) for (const one of [word, ...shorter(word)]) addTo(found, one, word)
  }
  return found
}

function shorter(word: string): string[] {
  return Array.from(word, (_, at) => word.slice(0, at) + word.slice(at + 1))
}

function addTo<T>(lists: Map<string, T[]>, key: string, value: T): void {
  const list = lists.get(key)
  if (list) list.push(value)
  else lists.set(key, [value])
}
