// Chooses the rule for a clause. Rules that change something come first and must account for every word; a request
// for a change that fits none of them is refused, and never treated as a read.
import type { LanguageModelV4FunctionTool } from "@ai-sdk/provider"
import type { Clause } from "#ability/provider/rules/words/clause.ts"
import { change, needs } from "./change.ts"
import { git } from "./git.ts"
import { inspect } from "./inspect.ts"
import { namedTool } from "./named-tool.ts"
import { project } from "./project.ts"
import { type Proposal, says } from "./proposal.ts"
import { commands } from "./run.ts"
import { todo } from "./todo.ts"

const negated = /^(?:don't|dont|do not|never|avoid|stop|without|no)\b/
/** Questions about how something is done ask for an explanation, not for doing it. */
const asksAbout =
  /^(?:how (?:do|can|should|would|to|does)|why|should|when should|is it|would it|what (?:happens|would|if|does Q)|i (?:ran|did|deleted|accidentally|have)|explain Q|is Q|are Q)\b/
const changing = new RegExp(
  `^(?:${"add append apply adjust adapt bring burn change clean clear commit configure convert correct create debug delete deploy destroy discard do drop edit eliminate empty enable disable erase extend extract fix force format free generate get_rid implement improve increase insert integrate introduce kill make merge migrate modernize modify move nuke optimize optimise overwrite patch polish port prepend publish purge push put rebase redo reduce refactor release remove rename reorder reorganize replace reset resolve restore restructure revert rewrite roll rollback save set setup set_up shut simplify solve sort split squash stash stop swap switch tidy throw trash transform translate truncate turn undo uninstall unstage update upgrade wipe write blank insert install start stop help let design invent solve build prepare document bump raise lower ensure mark put swap finish complete wire hook extend support handle rm mv i_want make_sure i_need we_need you_should need let's sum calculate compute draw guess".replaceAll(" ", "|").replaceAll("_", " ")})\\b`,
)

export function choose(clause: Clause, tools: LanguageModelV4FunctionTool[]): Proposal | undefined {
  if (negated.test(clause.shape)) return undefined
  const own = tools.filter(({ name }) => !builtin.test(name))
  const found = namedTool(clause, own) ?? rules(clause)
  const isOffered = ({ tool }: { tool: string }) => tools.some(({ name }) => name === tool)
  const { calls = [], after } = found ?? {}
  return calls.every(isOffered) && (!after || isOffered(after)) ? found : undefined
}

const builtin = /^(?:bash|todo|edit|write|fetch|grep|glob|ls|read)$/

function rules(clause: Clause): Proposal | undefined {
  const isQuestion = asksAbout.test(clause.shape)
  const typed = commands(clause)
  if (typed) return { ...typed, hasEffect: true }
  const noted = todo(clause)
  if (noted) return noted
  if (!isQuestion) {
    const deed = project(clause) ?? change(clause)
    if (deed) return { ...deed, hasEffect: true }
    if (changing.test(clause.shape) && !/^(?:do|start|help|get)\b/.test(clause.shape))
      return { calls: [], refusal: needs(clause) }
  }
  if (says(clause, /^review\b/) && !clause.files.length) return undefined
  return git(clause) ?? (says(clause, /Q/) && isQuestion ? undefined : inspect(clause))
}
