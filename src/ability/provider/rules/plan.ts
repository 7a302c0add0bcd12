// A request as steps: what is asked for, one after the other, each with the calls that do it.
import type { LanguageModelV4FunctionTool } from "@ai-sdk/provider"
import { chooseSkill } from "./choose-skill.ts"
import { type Clause, readClause } from "./clause.ts"
import { splitClauses, withVerb } from "./clauses.ts"
import { isFile } from "./recognize.ts"
import { candidates } from "./skill/measure.ts"
import { talk } from "./skill/talk.ts"
import type { Proposal } from "./skill.ts"
import { type Token, tokenize } from "./tokens.ts"

export type Step = {
  /** As it was asked for. */
  asked: string
  /** Missing where no rule fits. */
  proposal?: Proposal
}

export function plan(request: string, tools: LanguageModelV4FunctionTool[]): Step[] {
  const steps: Step[] = []
  const { tokens: asking, isCut } = firstParagraph(request, tokenize(request))
  let before: Token[] | undefined
  for (const own of withPlaces(splitClauses(asking))) {
    const tokens = withVerb(request, own, before)
    before = tokens
    const clause = readClause(request, tokens)
    const asked = askedIn(request, own)
    const proposal = chooseSkill(clause, tools)
    if (!proposal && counting.test(clause.shape)) countLast(steps)
    if (!proposal && (talk(asked) !== undefined || isAside(clause, steps))) continue
    steps.push({ asked, ...(proposal ? { proposal: complete(proposal, clause, steps) } : {}) })
  }
  return isCut ? [...steps, { asked: "what follows the first paragraph" }] : steps
}

/** What comes after an empty line may be a file that was piped in, in which nothing is asked of us. Behind a colon it is
 * content, and a greeting stands alone. */
function firstParagraph(request: string, tokens: Token[]): { tokens: Token[]; isCut: boolean } {
  let start = 0
  for (let i = 0; i < tokens.length; i++) {
    if (tokens[i]!.text !== "\n" || tokens[i + 1]?.text !== "\n" || i === start) continue
    const said = request.slice(tokens[start]!.start, tokens[i]!.start).trim()
    const isOver = tokens.slice(i).every(({ text }) => text === "\n")
    if (tokens[i - 1]!.text === ":" || isOver) break
    if (said && talk(said) === undefined) return { tokens: tokens.slice(start, i), isCut: true }
    start = i + 1
  }
  return { tokens: tokens.slice(start), isCut: false }
}

/** "in src, find x" says the place first. */
function withPlaces(clauses: Token[][]): Token[][] {
  return clauses.flatMap((tokens, i) => {
    const before = clauses[i - 1]
    if (isPlace(tokens) && clauses[i + 1]) return []
    return [before && isPlace(before) ? [...tokens, ...asPlace(before)] : tokens]
  })
}

/** "in src", and "edit a.ts" of "edit a.ts and replace x with y". */
function isPlace(tokens: Token[]): boolean {
  const [first, last] = [tokens[0]!, tokens.at(-1)!]
  if (/^(?:edit|modify|update)$/.test(first.lower))
    return (
      tokens.length <= 4 &&
      isFile(last.text) &&
      tokens.every(({ kind }, i) => kind === "word" || i === tokens.length - 1)
    )
  if (/^(?:for|from)$/.test(first.lower)) return tokens.length <= 4 && isFile(last.text)
  return tokens.length <= 6 && /^(?:in|inside|under|within)$/.test(first.lower)
}

function asPlace(tokens: Token[]): Token[] {
  const [first, ...rest] = tokens
  return [{ ...first!, text: "in", lower: "in" }, ...rest]
}

function askedIn(request: string, tokens: Token[]): string {
  const start = Math.min(...tokens.slice(0, 400).map((token) => token.start))
  const text = request.slice(start, tokens.at(-1)!.end)
  return text.length > 120 ? `${text.slice(0, 119)}…` : text
}

/** "tell me what you find", "show me the result": answers do that anyway. */
function isAside({ shape, files, quotes }: Clause, steps: Step[]): boolean {
  if (!steps.length || files.length || quotes.length || shape.length > 100) return false
  const isResult = /\b(?:results?|outputs?|answer|outcome)\b/.test(shape)
  return (
    isResult ||
    counting.test(shape) ||
    /^(?:what|whether|if|me know|explain|tell|say|report|see)\b.*\b(?:it|you|they|that|this|happen\w*|found|works?|says?|passes)\b/.test(
      shape,
    )
  )
}

const countable: Record<string, Proposal["count"]> = {
  glob: "files",
  ls: "files",
  grep: "matches",
  read: "lines",
}
const counting =
  /^(?:how many|count)\b.*\b(?:there|are|were|them|it|matches|results|of them|files|lines)\b|^count (?:them|the)\b/

/** "… and tell me how many there are" */
function countLast(steps: Step[]): void {
  const last = steps.at(-1)
  const tool = last?.proposal?.calls.at(-1)?.tool ?? ""
  const what = countable[tool]
  if (last?.proposal && what) last.proposal = { ...last.proposal, count: what }
}

/** A file that is chosen by its size needs files to choose from: the clause's own, or those of the step before. */
function complete(proposal: Proposal, clause: Clause, steps: Step[]): Proposal {
  if (!proposal.after || proposal.calls.length) return proposal
  const { pick } = proposal.after
  if (pick === "it" || pick === "own") return proposal
  const own = candidates(clause)
  if (own.length) return { ...proposal, calls: own }
  if (pick === "each") return proposal
  const hasFiles = steps.some((step) => step.proposal?.calls.length || step.proposal?.after)
  return hasFiles ? proposal : { ...proposal, calls: [{ tool: "ls", args: {} }] }
}
