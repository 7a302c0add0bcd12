// Which tool a clause asks for: every skill says how sure it is, the description of its tool adds a little, and the
// surest one wins.
import type { LanguageModelV4FunctionTool } from "@ai-sdk/provider"
import type { Clause } from "./clause.ts"
import { append } from "./skill/append.ts"
import { edit } from "./skill/edit.ts"
import { fetchPage } from "./skill/fetch.ts"
import { find } from "./skill/find.ts"
import { list } from "./skill/list.ts"
import { measure } from "./skill/measure.ts"
import { namedTool } from "./skill/named-tool.ts"
import { read } from "./skill/read.ts"
import { run } from "./skill/run.ts"
import { search } from "./skill/search.ts"
import { todo } from "./skill/todo.ts"
import { write } from "./skill/write.ts"
import type { Proposal, Skill } from "./skill.ts"

const skills: [tool: string, skill: Skill][] = [
  ["bash", run],
  ["todo", todo],
  ["edit", edit],
  ["edit", append],
  ["write", write],
  ["fetch", fetchPage],
  ["grep", search],
  ["glob", find],
  ["ls", measure],
  ["read", read],
  ["ls", list],
]
const enough = 2.9
const negated = /^(?:don't|dont|do not|never|avoid|stop|without|no)\b/

/** Who wants something gone is not helped by seeing it. */
const destructive =
  /^(?:delete|remove|erase|wipe|purge|drop|destroy|get rid|clean|clear|truncate|uninstall|kill|reset|format|shred|nuke|trash|discard|undo|revert|roll back|prune|throw away|empty|free)\b/

export function chooseSkill(clause: Clause, tools: LanguageModelV4FunctionTool[]): Proposal | undefined {
  if (negated.test(clause.shape)) return undefined
  const own = tools.filter(({ name }) => !skills.some(([tool]) => tool === name))
  const named = namedTool(clause, own)
  if (named) return named
  let best: Proposal | undefined
  const wanted = destructive.test(clause.shape)
    ? skills.filter(([tool]) => /^(?:bash|edit|todo)$/.test(tool))
    : skills
  for (const [tool, skill] of wanted) {
    const proposal = skill(clause)
    const known = tools.find(({ name }) => name === tool)
    if (!known || !proposal?.calls.every((call) => tools.some(({ name }) => name === call.tool))) continue
    const score = proposal.score + closeness(clause, known)
    if (proposal.score >= enough && score > (best?.score ?? 0)) best = { ...proposal, score }
  }
  if (!best && destructive.test(clause.shape) && tools.some(({ name }) => name === "bash"))
    return {
      score: enough,
      calls: [],
      refusal: "I take nothing away or back by myself, only with a command that you write out: run `…`",
    }
  return best
}

/** How many words of the description are in the clause; it decides only between equals. */
function closeness({ words }: Clause, { description = "" }: LanguageModelV4FunctionTool): number {
  const said = new Set(words.map(stem))
  const described = new Set((description.toLowerCase().match(/[a-z]{4,}/g) ?? []).map(stem))
  let shared = 0
  for (const word of described) if (said.has(word)) shared++
  return Math.min(shared, 3) * 0.1
}

function stem(word: string): string {
  return word.replace(/(?:ing|ed|es|s)$/, "")
}
