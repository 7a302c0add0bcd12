// Judges which of the built-in specialists a request is for: by cues in its words, and by the examples that it is like. It may
// be for none of them.
import { createEmbedder } from "#knowledge/embedder/create-embedder.ts"
import { NamedError } from "#util/error.ts"
import { examples } from "./examples.ts"
import { type Embed, type Likeness, learnExamples } from "./learn-examples.ts"
import { createCues, type Match, matchCues } from "./match-cues.ts"
import { readRequest, type Token } from "./read-request.ts"
import { specialistCues } from "./specialist-cues.ts"

export type Reason = { score: number; text: string }
/** `specialists`: the reasons for each by name; empty if the request is for none of them. */
export type Verdict = {
  tokens: readonly Token[]
  cues: readonly Match[]
  specialists: ReadonlyMap<string, Reason[]>
}

/** A later word says less about what the person wants, and each further cue adds less. */
const [decay, further] = [0.03, 0.6]
/** Words for something at hand make a general question less general. */
const anchorShare = 0.5
/** A specialist with less than this does not fit. */
export const minScore = 2

/** `keywords`: those of the specialists, which count also where no cue names them. `embed`: `null` to compare words only. The
 * examples are read for the first request. */
export function createJudge(
  keywords: Readonly<Record<string, readonly string[]>>,
  embed: Embed | null = embedded(),
) {
  const cues = createCues(specialistCues, keywords)
  let learned: ReturnType<typeof learnExamples> | undefined

  function judge(input: string): Verdict {
    const tokens = readRequest(input)
    const found = matchCues(tokens, cues)
    const specialists = new Map<string, Reason[]>()
    if (tokens.length === 0) return { tokens, cues: found, specialists }
    learned ??= learn(embed)
    for (const like of learned.compare(input, tokens))
      specialists.set(like.owner, [...cueReasons(found, like.owner, tokens), likenessReason(like)])
    const general = total(specialists.get("none")) - anchorShare * total(cueReasons(found, "anchor", tokens))
    specialists.delete("none")
    if (general > Math.max(...[...specialists.values()].map(total))) specialists.clear()
    return { tokens, cues: found, specialists }
  }

  return Object.freeze({ judge })
}

export function total(reasons: readonly Reason[] = []): number {
  return reasons.reduce((sum, { score }) => sum + score, 0)
}

/** The strongest first. */
function cueReasons(found: readonly Match[], owner: string, tokens: readonly Token[]): Reason[] {
  return found
    .filter((match) => match.owner === owner)
    .map(({ weight, start, end }) => ({
      score: weight / (1 + decay * start),
      text: `it says "${tokens
        .slice(start, end)
        .map(({ word }) => word)
        .join(" ")}"`,
    }))
    .sort((a, b) => b.score - a.score)
    .map(({ score, text }, rank) => ({ score: score * further ** rank, text }))
}

function likenessReason({ score, nearest }: Likeness): Reason {
  if (score <= 0) return { score, text: "it is unlike the requests that it gets" }
  return {
    score,
    text: nearest ? `it is like "${nearest}"` : "its words are those of the requests that it gets",
  }
}

function embedded(): Embed {
  const { embedNow } = createEmbedder()
  return (text) => embedNow!(text)
}

/** Without the file of the embedder, words are compared alone. */
function learn(embed: Embed | null): ReturnType<typeof learnExamples> {
  try {
    return learnExamples(examples, embed)
  } catch (error) {
    if (!(error instanceof NamedError) || error.name !== "Embedder.BrokenModel") throw error
    return learnExamples(examples, null)
  }
}
