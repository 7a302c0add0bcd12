// The list of tasks with `todo`: show it, add to it, say how a task stands.
import { type Clause, slice } from "./clause.ts"
import { type Call, type Json, type Proposal, says } from "./skill.ts"

const noun =
  /(?<![\w./-])(?:to-?dos?(?: ?list| items?)?(?!\.\w)|to do (?:list|items?)|task ?list|tasks?|checklist|my list|(?:have|left|got|still) to do)\b/
const adding =
  /^(?:add|put|append|create|make|new|note|remind|remember|write|include|insert|jot|todo|todos|to-do|task|set|stick|track|i)$/
const done = /\b(?:done|complete|completed|finished|as finish|off|resolved|closed)\b/
const started = /\b(?:in[- ]progress|started|underway|in_progress|working on)\b/

export function todo(clause: Clause): Proposal | undefined {
  const isReminder = says(
    clause,
    /^(?:remind me (?:to|that|about)|remember to|don't let me forget to|note to self)\b/,
  )
  const isAbout = says(clause, noun) || isReminder
  const status = statusIn(clause)
  if (status && (isAbout || clause.quotes.length || /^(?:mark|tick|cross)$/.test(clause.verb))) {
    const items = itemsIn(clause)
    if (items.length) return { calls: [call(items, status)] }
  }
  if (!isAbout) return undefined
  if (adding.test(clause.verb) && !says(clause, /\b(?:file|comments?)\b/)) {
    const items = itemsIn(clause)
    if (items.length) return { calls: [call(items, "pending")] }
  }
  if (
    clause.files.length ||
    clause.folders.length ||
    says(clause, /\b(?:comments?|code|files?|search|grep)\b/)
  )
    return undefined
  // In capitals they are comments in the code.
  if (clause.tokens.some(({ text }) => /^TODOS?s?$/.test(text)) && !says(clause, /\b(?:my|our)\b|\blist$/))
    return undefined
  if (says(clause, /^(?:clear|empty|reset|delete|remove|wipe|drop|erase)\b/))
    return {
      calls: [],
      refusal: "I take nothing off the list, but can mark it: mark 'write tests' as done",
    }
  if (
    says(
      clause,
      /^(?:show|list|what|what's|whats|display|see|view|print|read|check|give|get|open|which|how|any|do|are|is|my|the|tasks?|todos?|to-?do)\b/,
    )
  )
    return { calls: [{ tool: "todo", args: {} }] }
  return undefined
}

function call(items: string[], status: string): Call {
  const todos: Json = items.map((text) => ({ text, status }))
  return { tool: "todo", args: { todos } }
}

function statusIn(clause: Clause): string | undefined {
  const { verb } = clause
  if (
    /^(?:mark|set|tick|check|cross|close|complete|finish|finished|completed|i|done|i've|we|i'm|update)$/.test(
      verb,
    ) ||
    says(clause, /\b(?:is|are|as) (?:now |all )?(?:done|complete|completed|finished)\b/)
  ) {
    if (says(clause, started)) return "in_progress"
    if (says(clause, done) || /^(?:complete|finish|finished|completed|close|tick|done)$/.test(verb))
      return says(clause, /\b(?:not|un)\b|pending|undone|open again/) ? "pending" : "done"
    if (says(clause, /\bpending\b/)) return "pending"
  }
  if (/^(?:start|begin)$/.test(verb) && (says(clause, noun) || says(clause, /\bworking on\b/)))
    return "in_progress"
  return undefined
}

/** What comes before an item, in this order. */
const leads = [
  /^(?:add|put|append|create|make|new|note|remind|remember|write|include|insert|jot|stick|track|mark|set|tick|check|cross|complete|finish|finished|completed|close|i|i've|i'm|we|done|start|begin|started|update|down|off|up|me|just|have|am|is|working|on|with|let|forget|don't|to-do|todo|todos)$/,
  /^(?:a|an|the|my|our|another|following|new|these|to|on|in)$/,
  /^(?:todos?|to-dos?|do|tasks?|items?|list|entry|reminder|checklist|self)$/,
]
const connecting = /^(?:to|that|about|for|called|named|saying|:|of|-)$/
const tail =
  /^(?:to|on|in|into|onto|as|from|is|are|my|the|a|our|todo|todos|to-do|list|task|tasks|checklist|done|complete|completed|finished|in-progress|progress|in_progress|pending|off|todolist|items?|please|now|do)$/

/** What is quoted, or the words between those that only say what to do with them. */
function itemsIn(clause: Clause): string[] {
  if (clause.quotes.length) return clause.quotes.map(({ text }) => text.trim()).filter(Boolean)
  const { tokens } = clause
  let [start, end] = [0, tokens.length]
  const colon = tokens.findIndex(({ text }, i) => text === ":" && i > 0)
  if (colon > 0 && colon < end - 1) start = colon + 1
  else {
    for (const lead of leads) while (start < end && lead.test(tokens[start]!.lower)) start++
    const isAnnounced =
      start > 0 &&
      (leads[2]!.test(tokens[start - 1]!.lower) || /^(?:me|remember|forget)$/.test(tokens[start - 1]!.lower))
    while (start < end && isAnnounced && connecting.test(tokens[start]!.lower)) start++
    while (end > start && (tokens[end - 1]!.kind === "mark" || tail.test(tokens[end - 1]!.lower))) end--
  }
  const text = slice(clause, start, end).trim()
  if (!text) return []
  const parts =
    colon > 0
      ? text
          .split(
            /\s\d+[.)]\s/.test(text)
              ? /\s*(?:\n|\s|^)\d+[.)]\s+/
              : /[,;]/.test(text)
                ? /\s*[,;\n]\s*(?:and\s)?|\s+and\s+/
                : /\s*\n\s*/,
          )
          .map((part) => part.replace(/^(?:[-*•]|\d+[.)])\s*/, "").replace(/[.!]$/, ""))
      : [text]
  return parts.filter(Boolean).slice(0, 50)
}
