// The list of tasks with `todo`: shows it, adds to it, sets the status of a task.
import type { Clause } from "#ability/provider/rules/words/clause.ts"
import { type Match, match } from "#ability/provider/rules/words/match.ts"
import { type Json, type Proposal, says } from "./proposal.ts"

const list =
  "todos|todo|to-do|to-dos|todo_list|to-do_list|to_do_list|todolist|task_list|tasklist|tasks|task|checklist|list|todo_items"
const noun =
  /\b(?:to-?dos?|to do (?:list|items?)|tasks?|task ?list|checklist|my list|left to do|have to do)\b/
const item = "$a|new|item|items|task|tasks|todo|entry|:|following|\n|reminder|another"

export function todo(clause: Clause): Proposal | undefined {
  const marked = match(
    clause,
    `mark|set|update|tick|check|cross|close|complete|finish|finished|completed|start|i_finished|i_completed|i_did|i've_finished off? ${item}* <text> as|to|is? <status:done|complete|completed|finished|in-progress|in_progress|started|pending|open> now?`,
    `tick|tick_off|check_off|cross_off|complete|finish|finished|completed|close|i_finished|i_completed|i've_finished|done_with ${item}* <text:Q> off? from|on? $a? ${list}?`,
    `tick|check|cross ${item}* <text> off $a? ${list}?`,
    `<text:Q> is|are now|all? <status:done|complete|completed|finished>`,
  )
  if (marked && (clause.quotes.length || says(clause, noun))) return tasks(clause, marked, statusOf(marked))
  const added = match(
    clause,
    `add|put|append|note|write|include|insert|stick|jot|create ${item}* <text> to|on|onto|in|into $a? ${list}`,
    `add|create|make|new|note ${item}* ${list} to|:|called|that_says|saying :? \n* <text>`,
    `add|put ${item}* to|on $a? ${list} : \n* <text>`,
    `new? todo|todos|to-do|task : \n* <text>`,
    `remind_me|remember|don't_let_me_forget to|that|about <text>`,
    `note_to_self : <text>`,
  )
  if (added && !/^(?:it|that|this|comments?)$/.test(added.get("text")!.trim()))
    return tasks(clause, added, "pending")
  const isElsewhere = clause.files.length || clause.folders.length || clause.quotes.length
  const isComment = says(clause, /\b(?:comments?|code|files?|search|grep|codebase|project|repo)\b/)
  const isCapital =
    clause.tokens.some(({ text }) => /^TODOS?s?$/.test(text)) && !says(clause, /\bmy\b|\blist$/)
  if (!says(clause, noun) || isElsewhere || isComment || isCapital) return undefined
  if (says(clause, /^(?:clear|empty|reset|delete|remove|wipe|drop|erase)\b/))
    return { calls: [], refusal: "I take nothing off the list, but can mark it: mark 'write tests' as done" }
  const isShown = says(
    clause,
    /^(?:show|list|what|what's|whats|display|see|view|print|read|check|give|get|open|which|how|any|do|are|is|my|the|tasks?|todos?|to-?do)\b/,
  )
  return isShown ? { calls: [{ tool: "todo", args: {} }] } : undefined
}

function statusOf(marked: Match): string {
  const said = marked.get("status") ?? "done"
  return /pending|open/.test(said) ? "pending" : /progress|started/.test(said) ? "in_progress" : "done"
}

function tasks({ quotes }: Clause, found: Match, status: string): Proposal {
  const said = quotes.length ? quotes.map(({ text }) => text) : parts(found.get("text")!)
  const todos: Json = said
    .map((text) => text.trim())
    .filter(Boolean)
    .slice(0, 50)
    .map((text) => ({ text, status }))
  return { calls: [{ tool: "todo", args: { todos } }] }
}

/** One task per line, or several in a row. */
function parts(text: string): string[] {
  if (/\s\d+[.)]\s/.test(` ${text}`))
    return text.split(/(?:^|\s)\d+[.)]\s+/).map((part) => part.replace(/,$/, ""))
  if (text.includes("\n")) return text.split("\n").map((part) => part.replace(/^\s*[-*•]\s*/, ""))
  return text.includes(",") ? text.split(/\s*,\s*(?:and\s)?|\s+and\s+/) : [text]
}
