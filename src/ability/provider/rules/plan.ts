// Splits a request into steps, in order, each with the calls that do it.
import type { LanguageModelV4FunctionTool } from "@ai-sdk/provider"
import { choose } from "./skill/choose.ts"
import { opinionNote } from "./skill/inspect.ts"
import { isAboutTests } from "./skill/project.ts"
import type { Proposal } from "./skill/proposal.ts"
import { talk } from "./skill/talk.ts"
import { type Clause, readClause } from "./words/clause.ts"
import { splitClauses, takes, withVerb } from "./words/clauses.ts"
import { joinClauses } from "./words/join-clauses.ts"
import { type Token, tokenize } from "./words/tokens.ts"

export type Step = {
  /** As it was asked for. */
  asked: string
  /** Undefined if no rule fits. */
  proposal?: Proposal
}

export function plan(request: string, tools: LanguageModelV4FunctionTool[]): Step[] {
  const steps: Step[] = []
  const { tokens: asking, isCut } = firstParagraph(tokenize(request))
  let before: Token[] | undefined
  for (const own of joinClauses(request, splitClauses(asking))) {
    const tokens = withVerb(request, own, before)
    before = tokens
    const clause = readClause(request, tokens)
    const asked = askedIn(request, own)
    const proposal = isCovered(clause, steps) ? undefined : choose(clause, tools)
    if (!proposal && counting.test(clause.shape)) countLast(steps)
    if (!proposal) admitNoOpinion(clause, steps)
    if (!proposal && (talk(asked) !== undefined || isCovered(clause, steps) || isImplied(clause, steps)))
      continue
    steps.push({ asked, ...(proposal ? { proposal } : {}) })
  }
  const all = isCut ? [...steps, { asked: "what follows the first paragraph" }] : steps
  return isPlain(request, asking, steps) ? all : all.map(refuseEffect)
}

const unplain =
  "I change or run something only on a plain request: without a condition, a question, an exception or a part that I do not understand. Ask for it alone"
const hedges =
  /\b(?:if|unless|once|until|when|whenever|case|otherwise|else|don't|dont|not|never|no|nope|without|instead|rather|except|but|or|should|shouldn't|how|why|whether|example|eg|remind|wait|ask me|kidding|joking|actually|maybe|perhaps|only|keep|would be|failed|loses)\b/
const polite = /^(?:(?:hi|hello|hey|please)\b[\s,!.]*)*(?:can|could|would|will) you\b/

/** Whether every part of a request is understood, and none is a condition, a negation or a question. Quotes do not count. */
function isPlain(request: string, asking: Token[], steps: Step[]): boolean {
  const words = asking.map(({ kind, lower }) => (kind === "quote" ? "Q" : lower)).join(" ")
  const questions = words.split("?").length - 1
  const isPolite = questions === 1 && polite.test(request.trim().toLowerCase()) && words.trim().endsWith("?")
  return (
    !/^\s*>/m.test(request) &&
    !hedges.test(words) &&
    (!questions || isPolite) &&
    steps.every(({ proposal }) => proposal)
  )
}

/** Tests may run all the same: they change nothing. */
function refuseEffect(step: Step): Step {
  const { hasEffect, isTest } = step.proposal ?? {}
  return hasEffect && !isTest ? { ...step, proposal: { calls: [], refusal: unplain } } : step
}

/** Text after an empty line may be a piped file, so it is no request. After "write this to a.txt:" it is the content,
 * and after "run this" the command. */
function firstParagraph(tokens: Token[]): { tokens: Token[]; isCut: boolean } {
  const last = tokens.findLastIndex(({ text }) => text !== "\n")
  const from = tokens[0]?.sign === "```" ? 3 : 1
  const end = tokens.findIndex(({ text }, i) => i >= from && text === "\n" && tokens[i + 1]?.text === "\n")
  const isContent = end > 0 && tokens[end - 1]!.text === ":" && takes(tokens.slice(0, end - 1))
  if (end < 0 || end > last || isContent || isBlockFor(tokens, 0, end)) return { tokens, isCut: false }
  return { tokens: tokens.slice(0, end), isCut: true }
}

/** "run this" with nothing but a block below it. */
function isBlockFor(tokens: Token[], start: number, end: number): boolean {
  if (!tokens.slice(start, end).some(({ lower }) => /^(?:this|these|following|below)$/.test(lower)))
    return false
  const rest = tokens.slice(end).filter(({ text }) => text !== "\n")
  return rest.length === 1 && rest[0]!.sign === "```"
}

function askedIn(request: string, tokens: Token[]): string {
  const start = Math.min(...tokens.slice(0, 400).map((token) => token.start))
  const text = request.slice(start, tokens.at(-1)!.end)
  return text.length > 120 ? `${text.slice(0, 119)}…` : text
}

const covered =
  /^(?:what's|whats|what is) (?:there|inside|in (?:it|there))$|^(?:what|how|whether|if) (?:it|they|that|this|these|those|you) \w+(?: (?:there|about|like|is|are|me))?$/
const coveredBy: [tool: RegExp, pattern: RegExp][] = [
  [/^todo$/, /^(?:tick|cross|check|mark|add|put|note)(?: off)? (?:it|that|this|them|those|these)\b/],
  [
    /^(?:grep|glob)$/,
    /^(?:find|search|look(?: for)?|locate|show|check)(?: me)? (?:it|that|them)(?: for me| out| up)?$|^where (?:(?:is|are) (?:it|they|that)|(?:it|they) (?:is|are))$/,
  ],
  [
    /^read$/,
    /^(?:summari[sz]e|explain|describe|review|analy[sz]e|understand)\b(?: (?:to|me|for|us))* (?:it|that|this|them|what (?:it|they|that|this) \w+)(?: (?:to|for) me)?$/,
  ],
]

/** "… and tell me what it says", "I did 'x', tick it off": the step before does it already. */
function isCovered(clause: Clause, steps: Step[]): boolean {
  const { shape, quotes, files } = clause
  const proposal = steps.at(-1)?.proposal
  const last = proposal?.calls.at(-1)
  if (!last || quotes.length || files.length) return false
  if (proposal!.isTest && isAboutTests(clause)) return true
  if (covered.test(shape)) return last.tool !== "todo"
  return coveredBy.some(([tool, pattern]) => tool.test(last.tool) && pattern.test(shape))
}

/** "tell me what you find", "show me the result": every answer does that. */
function isImplied({ shape, files, quotes }: Clause, steps: Step[]): boolean {
  if (!steps.length || files.length || quotes.length || shape.length > 100) return false
  return (
    counting.test(shape) ||
    /\b(?:results?|outputs?|answer|outcome)\b|^(?:what|whether|if|me know|explain|tell|say|report|see)\b.*\b(?:it|you|they|that|this|happen\w*|found|works?|says?|passes)\b/.test(
      shape,
    )
  )
}

/** "read a.txt and summarize it": the file is shown, with a note that rules cannot summarize. */
function admitNoOpinion(clause: Clause, steps: Step[]): void {
  const last = steps.at(-1)
  const { refusal } = opinionNote(clause)
  if (last?.proposal && refusal && isCovered(clause, steps)) last.proposal = { ...last.proposal, refusal }
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
  const what = countable[last?.proposal?.calls.at(-1)?.tool ?? ""]
  if (last?.proposal && what) last.proposal = { ...last.proposal, count: what }
}
