// A request as steps: what is asked for, one after the other, each with the calls that do it.
import type { LanguageModelV4FunctionTool } from "@ai-sdk/provider"
import { choose } from "./skill/choose.ts"
import { thought } from "./skill/look.ts"
import { isAboutTests } from "./skill/project.ts"
import type { Proposal } from "./skill/proposal.ts"
import { talk } from "./skill/talk.ts"
import { type Clause, readClause } from "./words/clause.ts"
import { splitClauses, withVerb } from "./words/clauses.ts"
import { joinClauses } from "./words/join-clauses.ts"
import { type Token, tokenize } from "./words/tokens.ts"

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
  for (const own of joinClauses(request, splitClauses(asking))) {
    const tokens = withVerb(request, own, before)
    before = tokens
    const clause = readClause(request, tokens)
    const asked = askedIn(request, own)
    const proposal = isRetold(clause, steps) ? undefined : choose(clause, tools)
    if (!proposal && counting.test(clause.shape)) countLast(steps)
    if (!proposal) admitThought(clause, steps)
    if (!proposal && (talk(asked) !== undefined || isRetold(clause, steps) || isAside(clause, steps)))
      continue
    steps.push({ asked, ...(proposal ? { proposal } : {}) })
  }
  return isCut ? [...steps, { asked: "what follows the first paragraph" }] : steps
}

/** What comes after an empty line may be a file that was piped in, in which nothing is asked of us. Behind a colon it is
 * content, and a greeting stands alone. */
function firstParagraph(request: string, tokens: Token[]): { tokens: Token[]; isCut: boolean } {
  const end = tokens.findLastIndex(({ text }) => text !== "\n")
  let start = 0
  for (let i = 0; i < tokens.length; i++) {
    if (tokens[i]!.text !== "\n" || tokens[i + 1]?.text !== "\n" || i === start) continue
    const said = request.slice(tokens[start]!.start, tokens[i]!.start).trim()
    const isOver = i > end
    const isBlock = i - start === 1 && tokens[start]!.sign === "```"
    if (isBlock && !isOver) continue
    if (tokens[i - 1]!.text === ":" || isOver || isBlockFor(tokens, start, i)) break
    if (said && talk(said) === undefined) return { tokens: tokens.slice(start, i), isCut: true }
    start = i + 1
  }
  return { tokens: tokens.slice(start), isCut: false }
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

const retold =
  /^(?:what's|whats|what is) (?:there|inside|in (?:it|there))$|^(?:what|how|whether|if) (?:it|they|that|this|these|those|you) \w+(?: (?:there|about|like|is|are|me))?$/
const retoldOf: [tool: RegExp, pattern: RegExp][] = [
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

/** "… and tell me what it says", "I did 'x', tick it off": it is done with the step before. */
function isRetold(clause: Clause, steps: Step[]): boolean {
  const { shape, quotes, files } = clause
  const proposal = steps.at(-1)?.proposal
  const last = proposal?.calls.at(-1)
  if (!last || quotes.length || files.length) return false
  if (proposal!.isTest && isAboutTests(clause)) return true
  if (retold.test(shape)) return last.tool !== "todo"
  return retoldOf.some(([tool, pattern]) => tool.test(last.tool) && pattern.test(shape))
}

/** "tell me what you find", "show me the result": answers do that anyway. */
function isAside({ shape, files, quotes }: Clause, steps: Step[]): boolean {
  if (!steps.length || files.length || quotes.length || shape.length > 100) return false
  return (
    counting.test(shape) ||
    /\b(?:results?|outputs?|answer|outcome)\b|^(?:what|whether|if|me know|explain|tell|say|report|see)\b.*\b(?:it|you|they|that|this|happen\w*|found|works?|says?|passes)\b/.test(
      shape,
    )
  )
}

/** "read a.txt and summarize it": the file is there, a summary is not. */
function admitThought(clause: Clause, steps: Step[]): void {
  const last = steps.at(-1)
  const { refusal } = thought(clause)
  if (last?.proposal && refusal && isRetold(clause, steps)) last.proposal = { ...last.proposal, refusal }
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
