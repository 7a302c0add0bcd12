// Ranks the agents that fit a request, best first, each with its reasons. No model is asked, so that the same request always
// goes to the same agent. The built-in specialists are judged by cues and examples, other agents by their own words.
import { createJudge, minScore, type Reason, total, type Verdict } from "#ability/agent/cue/judge-request.ts"
import { hasPhrase, keywordsOf, wordsOf } from "#ability/agent/cue/words.ts"
import { agentSpecs } from "#ability/agent/spec/agent-spec.ts"
import type { AgentRule } from "#kernel/config/config.ts"
import type { AgentDefinition } from "./agent.ts"

export type Ranked = { agent: string; score: number; reasons: string[] }
/** The fields of an agent that the ranking reads. */
export type Candidate = Pick<AgentDefinition, "id" | "name" | "domain" | "capabilities" | "metadata">
/** `words` and `keywords` are without those that the person rules out. `parts`: the words of each token. */
type Request = {
  all: string[]
  parts: string[][]
  words: string[]
  keywords: Map<string, string>
  verdict: Verdict
}

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

/** A configured rule outweighs everything else; a phrase counts more than a word. */
const weight = { rule: 1_000, mention: 9, phrase: 10, keyword: 4, capability: 3, domain: 2, word: 1 }
const maxDescription = 3
/** A person's own agent has fewer words to be found by than the specialists. */
const specialistShare = 0.5
const { judge: judgeSpecialists } = createJudge(
  Object.fromEntries(agentSpecs.map(({ name, keywords }) => [name, keywords])),
)
/** A choice is clear from this score on, and with this lead over the next one. */
const clearScore = 4
const clearLead = 1.5

/** The agents that have something in common with the request; equal ones sorted by id. `fallback` is for requests
 * that fit no agent, so only a rule chooses it. */
export function rank(options: {
  input: string
  agents: readonly Candidate[]
  rules: readonly AgentRule[]
  fallback?: string
}): Ranked[] {
  const request = readWords(options.input)
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

function judge(agent: Candidate, request: Request, rule: AgentRule | undefined): Ranked {
  const { id, metadata } = agent
  const isChosen = rule?.agent === id
  const words = toDo(agent, request)
  const cannot = metadata.cannotDo?.find((phrase) => hasPhrase(words, wordsOf(phrase)))
  if (cannot !== undefined && !isChosen) return { agent: id, score: 0, reasons: [`cannot do "${cannot}"`] }
  const reasons: Reason[] = [
    ...(isChosen ? [ruleReason(rule, request)] : []),
    ...mentionReasons(agent, request),
    ...(isBuiltin(agent) ? specialistReasons(agent, request) : ownReasons(agent, request)),
  ]
  return {
    agent: id,
    score: round(total(reasons)),
    reasons: reasons.map(({ score, text }) => `${text} (${score < 0 ? "" : "+"}${round(score)})`),
  }
}

/** The words of what has to be done: not of what it is about, and not where they are part of a longer cue for the agent. */
function toDo({ id }: Candidate, { parts, verdict: { tokens, cues } }: Request): string[] {
  const own = cues.filter(({ owner, start, end }) => owner === id && end - start > 1)
  return tokens.flatMap(({ isExcluded, isTopic }, at) =>
    isExcluded || isTopic || own.some(({ start, end }) => start <= at && at < end) ? [] : parts[at]!,
  )
}

/** A file may define another agent of that name. */
function isBuiltin({ id, metadata }: Candidate): boolean {
  return agentSpecs.some(({ name, description }) => name === id && description === metadata.description)
}

function specialistReasons({ id }: Candidate, { verdict }: Request): Reason[] {
  const reasons = verdict.specialists.get(id) ?? []
  if (total(reasons) < minScore) return []
  return reasons
    .map(({ score, text }) => ({ score: round(specialistShare * score), text }))
    .filter(({ score }) => score !== 0)
}

function ownReasons(agent: Candidate, request: Request): Reason[] {
  return [
    ...keywordReasons(agent, request),
    ...capabilityReasons(agent, request),
    ...shared(request, domainWords(agent.domain)).map((word) => ({
      score: weight.domain,
      text: `"${word}" belongs to the domain ${agent.domain}`,
    })),
    ...shared(request, agent.metadata.description ?? "")
      .slice(0, maxDescription)
      .map((word) => ({ score: weight.word, text: `"${word}" is in its description` })),
  ]
}

function ruleReason({ match }: AgentRule, request: Request): Reason {
  return { score: weight.rule, text: `the configured rule for "${matching(request, match)}"` }
}

function mentionReasons({ id, name }: Candidate, { words }: Request): Reason[] {
  const said = [id, name].find((word) => hasPhrase(words, wordsOf(word)))
  return said === undefined ? [] : [{ score: weight.mention, text: `"${said}" is named` }]
}

function keywordReasons({ metadata }: Candidate, { words }: Request): Reason[] {
  return [...new Set(metadata.keywords ?? [])].flatMap((keyword) => {
    const phrase = wordsOf(keyword)
    if (!hasPhrase(words, phrase)) return []
    return phrase.length > 1
      ? [{ score: weight.phrase + phrase.length, text: `the phrase "${keyword}"` }]
      : [{ score: weight.keyword, text: `the keyword "${keyword}"` }]
  })
}

/** All words of a capability count more than some. */
function capabilityReasons({ capabilities }: Candidate, { keywords }: Request): Reason[] {
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
function matching({ all }: Request, match: string): string | undefined {
  return match.split("|").find((phrase) => hasPhrase(all, wordsOf(phrase)))
}

/** Words that people use for a domain, so that an agent need not list them all. Without an entry, only the name of
 * the domain counts. */
function domainWords(domain: string): string {
  const name = domain.toLowerCase()
  const key = Object.hasOwn(domainAliases, name) ? domainAliases[name]! : name
  return `${domain} ${Object.hasOwn(domainTerms, key) ? domainTerms[key] : ""}`
}

function readWords(input: string): Request {
  const verdict = judgeSpecialists(input)
  const wanted = verdict.tokens
    .filter(({ isExcluded }) => !isExcluded)
    .map(({ word }) => word)
    .join(" ")
  const parts = verdict.tokens.map(({ word }) => wordsOf(word))
  return { all: wordsOf(input), parts, words: wordsOf(wanted), keywords: keywordsOf(wanted), verdict }
}

function round(score: number): number {
  return Math.round(score * 10) / 10
}
