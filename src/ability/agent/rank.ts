// Ranks the agents that fit a request, best first, each with its reasons. Only words are compared, without a model, so
// that the same request always goes to the same agent.
import type { AgentRule } from "#kernel/config/config.ts"
import type { AgentDefinition } from "./agent.ts"

export type Ranked = { agent: string; score: number; reasons: string[] }
type Reason = { score: number; text: string }
type Request = { words: string[]; keywords: Map<string, string> }

const domainTerms: Record<string, string> = {
  coding:
    "code coding bug fix debug implement refactor compile function class method module api crash exception error feature test build typescript javascript python rust login endpoint",
  testing: "test tests coverage assert fixture regression flaky",
  analysis: "analyze analyse analysis data statistics chart trend compare measure metric csv report",
  documentation: "document documentation docs readme changelog guide tutorial comment",
  writing: "write draft article blog letter email translate proofread",
  research: "research investigate search web compare source paper survey",
  security: "security vulnerability exploit audit secret encrypt permission injection cve",
  design: "design layout css style component color accessibility wireframe",
  data: "data database sql query domainTerms schema migration csv",
  operations: "deploy release docker kubernetes server ci pipeline monitor infrastructure",
}
const domainAliases: Record<string, string> = {
  code: "coding",
  development: "coding",
  engineering: "coding",
  docs: "documentation",
  devops: "operations",
  ops: "operations",
}

/** Words without a topic of their own. */
const stopWords = new Set(
  "a an the and or of to in on at for with from by is are be it its this that these my me i you your we our please do does can could would should will".split(
    " ",
  ),
)

/** A configured rule outweighs everything else; a phrase counts more than a word. */
const weight = { rule: 1_000, mention: 9, phrase: 10, keyword: 4, capability: 3, domain: 2, word: 1 }
const maxDescription = 3
/** A choice is clear from this score on, and with this lead over the next one. */
const clearScore = 4
const clearLead = 1.5

/** The agents that have something in common with the request; equal ones sorted by id. `fallback` is for requests
 * that fit no agent, so only a rule chooses it. */
export function rank(options: {
  input: string
  agents: readonly AgentDefinition[]
  rules: readonly AgentRule[]
  fallback?: string
}): Ranked[] {
  const request = { words: wordsOf(options.input), keywords: keywordsOf(options.input) }
  const rule = options.rules.find(
    ({ match, agent }) => options.agents.some(({ id }) => id === agent) && matching(request, match),
  )
  return options.agents
    .filter(({ id }) => id !== options.fallback || id === rule?.agent)
    .map((agent) => judge(agent, request, rule))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || (a.agent < b.agent ? -1 : 1))
}

/** The best agent if it is clearly better than the next one. */
export function clearBest([best, second]: readonly Ranked[]): Ranked | undefined {
  return best && best.score >= clearScore && best.score >= clearLead * (second?.score ?? 0) ? best : undefined
}

function judge(agent: AgentDefinition, request: Request, rule: AgentRule | undefined): Ranked {
  const { id, metadata } = agent
  const isChosen = rule?.agent === id
  const cannot = metadata.cannotDo?.find((phrase) => hasPhrase(request.words, wordsOf(phrase)))
  if (cannot !== undefined && !isChosen) return { agent: id, score: 0, reasons: [`cannot do "${cannot}"`] }
  const reasons: Reason[] = [
    ...(isChosen ? [ruleReason(rule, request)] : []),
    ...mentionReasons(agent, request),
    ...keywordReasons(agent, request),
    ...capabilityReasons(agent, request),
    ...shared(request, domainWords(agent.domain)).map((word) => ({
      score: weight.domain,
      text: `"${word}" belongs to the domain ${agent.domain}`,
    })),
    ...shared(request, metadata.description ?? "")
      .slice(0, maxDescription)
      .map((word) => ({ score: weight.word, text: `"${word}" is in its description` })),
  ]
  return {
    agent: id,
    score: reasons.reduce((sum, { score }) => sum + score, 0),
    reasons: reasons.map(({ score, text }) => `${text} (+${score})`),
  }
}

function ruleReason({ match }: AgentRule, request: Request): Reason {
  return { score: weight.rule, text: `the configured rule for "${matching(request, match)}"` }
}

function mentionReasons({ id, name }: AgentDefinition, { words }: Request): Reason[] {
  const said = [id, name].find((word) => hasPhrase(words, wordsOf(word)))
  return said === undefined ? [] : [{ score: weight.mention, text: `"${said}" is named` }]
}

function keywordReasons({ metadata }: AgentDefinition, { words }: Request): Reason[] {
  return [...new Set(metadata.keywords ?? [])].flatMap((keyword) => {
    const phrase = wordsOf(keyword)
    if (!hasPhrase(words, phrase)) return []
    return phrase.length > 1
      ? [{ score: weight.phrase + phrase.length, text: `the phrase "${keyword}"` }]
      : [{ score: weight.keyword, text: `the keyword "${keyword}"` }]
  })
}

/** All words of a capability count more than some. */
function capabilityReasons({ capabilities }: AgentDefinition, { keywords }: Request): Reason[] {
  return [...new Set(capabilities)].flatMap((capability) => {
    const words = [...keywordsOf(capability).keys()]
    const found = words.filter((word) => keywords.has(word))
    if (found.length === 0) return []
    const whole = found.length === words.length ? weight.capability : 0
    return [{ score: found.length * weight.word + whole, text: `the capability ${capability}` }]
  })
}

/** Keywords of the request that are in the text too, as the request writes them. */
function shared({ keywords }: Request, text: string): string[] {
  const words = keywordsOf(text)
  return [...keywords].flatMap(([stem, word]) => (words.has(stem) ? [word] : []))
}

/** The first alternative of a rule's `match` that occurs in the request. */
function matching({ words }: Request, match: string): string | undefined {
  return match.split("|").find((phrase) => hasPhrase(words, wordsOf(phrase)))
}

/** Words that people use for a domain, so that an agent need not list them all. Without an entry, only the name of
 * the domain counts. */
function domainWords(domain: string): string {
  const name = domain.toLowerCase()
  const key = Object.hasOwn(domainAliases, name) ? domainAliases[name]! : name
  return `${domain} ${Object.hasOwn(domainTerms, key) ? domainTerms[key] : ""}`
}

/** The stems of all words in order, so that "bugs" matches "bug". In any script; "data.analyze" and "bugFix" are two
 * words. */
function wordsOf(text: string): string[] {
  return split(text).map(stem)
}

/** All words except stop words: the stem of each, and how it was written. */
function keywordsOf(text: string): Map<string, string> {
  return new Map(
    split(text)
      .filter((word) => !stopWords.has(word))
      .map((word) => [stem(word), word]),
  )
}

/** True if the words of a phrase follow one another in the text. */
function hasPhrase(text: readonly string[], phrase: readonly string[]): boolean {
  if (phrase.length === 0) return false
  return text.some((_, i) => phrase.every((word, j) => text[i + j] === word))
}

function split(text: string): string[] {
  const apart = text.normalize("NFKC").replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
  return apart.toLowerCase().match(/[\p{L}\p{N}\p{M}]+/gu) ?? []
}

/** A rough stem is enough, because both sides use the same. */
function stem(word: string): string {
  if (!/^[a-z]{4,}$/.test(word)) return word
  const short = word.replace(/(?<=[a-z]{3})(?:ing|ed|ers?|es|s)$/, "")
  return short.replace(/(?<=[a-z]{2})([^aeiouls])\1$/, "$1").replace(/(?<=[a-z]{3})e$/, "")
}
