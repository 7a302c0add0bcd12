// Notes for the model: rules, skills, a plan, late diagnostics, the context of hooks. Each note is a system message at the
// end of the history, so that prompt caches stay valid, and is stored like any other message, so that it is known after a restart.
import type { ModelFacts } from "#ability/provider/provider.ts"
import { append, lastId } from "#engine/record/append.ts"
import { contextOf } from "#engine/run/budget.ts"
import type { Run } from "#engine/run/run.ts"
import * as Secret from "#kernel/secret/secret.ts"
import * as Memory from "#knowledge/memory/memory.ts"
import { tokensOf } from "#knowledge/memory/tokens.ts"
import * as Message from "#knowledge/message/message.ts"
import { isRuleName } from "#knowledge/rules/create-nested-rules.ts"
import { insideTag } from "#util/parse/inside-tag.ts"

export type Note = {
  kind: "rule" | "skill" | "plan" | "diagnostics" | "hook" | "worker"
  name: string
  text: string
}
/** In tokens. `linked`: documents for one prompt. `nested`: rules of subfolders. `each`: the most for one file. */
export type RulesBudget = { linked: number; nested: number; each: number }

const openings: Record<Note["kind"], (name: string) => string> = {
  rule: (name) => `From the project's own instructions, ${name}:`,
  skill: (name) => `Of the skills here, ${name}:`,
  plan: () => "The plan of this session as it stands:",
  diagnostics: () => "Diagnostics of language servers that came after the edits:",
  hook: (name) => `From the hook ${name}:`,
  worker: () => "Another worker goes on with this turn:",
}
const maxRuleTokens = 8_000

/** Adds notes to the history. A note whose last text the model still sees is not added again. */
export function addNotes(run: Pick<Run, "session" | "progress">, notes: readonly Note[]): void {
  if (!notes.length) return
  const { id: sessionId, branch } = run.session
  const shown = new Map(shownNotes(sessionId).map(({ kind, name, text }) => [`${kind} ${name}`, text]))
  for (const { kind, name, text: given } of notes) {
    // Compared in its stored form, which is known after a restart.
    const text = Secret.redact(`${openings[kind](JSON.stringify(name))}\n${insideTag(kind, given)}`)
    const key = `${kind} ${name}`
    if (shown.get(key) === text) continue
    shown.set(key, text)
    const data = { role: "system" as const, parts: [{ type: "text" as const, text }], origin: { kind, name } }
    append(run, Message.make({ sessionId, parentId: lastId(run), branch, type: "text", data }))
  }
}

/** The notes that the model still sees, in their stored form, each with its message. */
export function shownNotes(
  sessionId: string,
): { kind: string; name: string; text: string; message: Message.Info }[] {
  return Memory.shortTerm(sessionId)
    .window()
    .flatMap((message) => {
      if (message.type !== "text" || !message.data.origin) return []
      return [{ ...message.data.origin, text: Message.textOf(message), message }]
    })
}

/** The names of the notes of a kind that the model still sees. */
export function shownNames(sessionId: string, kind: Note["kind"]): Set<string> {
  return new Set(shownNotes(sessionId).flatMap((note) => (note.kind === kind ? [note.name] : [])))
}

/** The token budget of a project's rules beside the root file: a tenth of the model's window, at most `maxRuleTokens`,
 * less the rules that the window already has. */
export function rulesBudget(sessionId: string, facts?: Pick<ModelFacts, "context">): RulesBudget {
  const share = Math.min(maxRuleTokens, Math.floor(contextOf(facts) / 10))
  const spent = { linked: 0, nested: 0 }
  for (const { kind, name, message } of shownNotes(sessionId))
    if (kind === "rule") spent[isRuleName(name) ? "nested" : "linked"] += tokensOf(message)
  const left = Math.max(0, share - spent.linked - spent.nested)
  // Half is reserved for rules of subfolders, because they concern the files in work.
  const linked = Math.max(0, Math.min(share / 4, share / 2 - spent.linked, left))
  return { linked: Math.floor(linked), nested: left, each: Math.floor(share / 2) }
}
