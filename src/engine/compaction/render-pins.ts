// Renders the pins, which survive every compaction: what the person wrote, the plan, open and refused questions, the
// files in work. They are rendered once per compaction and then never change; later changes are in the transcript
// after them.
import type * as Permission from "#ability/permission/permission.ts"
import { oneLine, section, textWithin } from "#engine/run/fit-tokens.ts"
import type * as Memory from "#knowledge/memory/memory.ts"
import { estimateTokens } from "#knowledge/memory/tokens.ts"
import { wordsOf } from "#knowledge/memory/working.ts"
import type * as Message from "#knowledge/message/message.ts"

export type Pins = {
  /** State of the whole history. */
  state: Memory.State
  /** Whether a message of the person is still in the transcript. */
  isShown(message: Message.Info): boolean
  /** The plan as its store renders it; empty if there is none. */
  plan: string
  mode: "act" | "plan"
  pending: readonly Permission.Request[]
  /** Tokens. */
  budget: number
}

type Said = { name: string; text: string; isLimit: boolean; form?: string; tokens: number }

/** The largest share of the budget for each part. The person's words get what the others do not need. */
const shares = { plan: 0.2, calls: 0.1, files: 0.1, references: 0.05 }
/** Names from models and files are put on one line, so that they cannot look like another part. */
const maxName = 300
/** Shares of the tokens for the newest and the first message, before the others get theirs. */
const wordShares = { newest: 0.4, first: 0.2 }
const shortened = 160
const rules =
  /\b(never|always|not|no|don'?t|won'?t|must|only|without|except|instead|rather|stop|avoid|keep|leave|make sure|remember|rule|prefer|from now on|nie|niemals|immer|nicht|kein\w*|nur|muss|statt|jamais|toujours|pas|sans|nunca|siempre|solo|sin)\b|никогда|всегда|только|нельзя|不要|不能|必须|只能|禁止|永远|決して|必ず|しないで|절대|반드시/i

export function renderPins(pins: Pins): string {
  const { state, budget, mode, isShown } = pins
  const [title = "", ...steps] = pins.plan.split("\n")
  const changed = state.files.filter((file) => file.changed > 0).reverse()
  const sections: [title: string, lines: string[], share: number][] = [
    [title, steps, shares.plan],
    ["Not decided by the person, and so not done:", waitingLines(pins), shares.calls],
    ["Calls that were refused, the newest first:", state.refused.map(callLine).reverse(), shares.calls],
    [
      "Files changed in this session, the newest first; read them again before a change:",
      changed.map(fileLine),
      shares.files,
    ],
    ["Files that the person pointed at:", state.references.map(referenceLine).reverse(), shares.references],
    [
      "Resources of MCP servers that were shown and are not any more:",
      goneResources(pins),
      shares.references,
    ],
  ]
  const others = [
    ...(mode === "plan" ? ["The session was in plan mode when this was written."] : []),
    ...sections.flatMap(([title, lines, share]) => section(title, lines, budget * share)),
  ]
  const tokens = budget - others.reduce((sum, text) => sum + estimateTokens(text), 0)
  return [...renderWords(state.words, { isShown, tokens }), ...others].join("\n\n")
}

function waitingLines({ state, pending }: Pins): string[] {
  return [
    ...pending.map(({ title }) => `- ${oneLine(title, 300)}`),
    ...state.undecided.map(callLine).reverse(),
  ]
}

function callLine({ name, arguments: given, invalid }: Message.Call): string {
  return `- ${name} ${oneLine(invalid ?? JSON.stringify(given), 300)}`
}

function fileLine({ path, changed, last }: Memory.State["files"][number]): string {
  return `- ${oneLine(path, maxName)}, ${changed}×, last: ${oneLine(last, 120)}`
}

/** The resources that the transcript no longer shows, each once. */
function goneResources({ state, isShown }: Pins): string[] {
  const shown = new Set(state.resources.filter(isShown).flatMap(resourceName))
  const gone = new Set(state.resources.flatMap(resourceName).filter((name) => !shown.has(name)))
  return [...gone].map((name) => `- ${name}`).reverse()
}

/** The name as a person would attach it; empty for other messages, and for a resource that could not be read. */
export function resourceName({ type, data }: Message.Info): string[] {
  if (type !== "mcp_resource" || data.error !== undefined) return []
  return [oneLine(`${data.serverName}:${data.resourceUri}`, maxName)]
}

function referenceLine({ data }: Message.Of<"file_reference">): string {
  const { path, startLine, endLine, status } = data
  const lines = startLine === undefined && endLine === undefined ? "" : `:${startLine ?? 1}-${endLine ?? ""}`
  return `- ${oneLine(path, maxName)}${lines}${status === "failed" ? " (could not be read)" : ""}`
}

/** What the person wrote and the transcript no longer shows, the newest first. If the tokens do not suffice, the last
 * and the first request are kept first, then what the person forbade or demanded. `words`: all messages of the person
 * in order. */
export function renderWords(
  words: readonly Message.Of<"text">[],
  { isShown, tokens }: { isShown(message: Message.Info): boolean; tokens: number },
): string[] {
  const gone = words.flatMap((message, i) => {
    if (isShown(message)) return []
    const text = wordsOf(message)
    return [{ name: `(${i + 1} of ${words.length})`, text, isLimit: rules.test(text), tokens: 0 } as Said]
  })
  if (!gone.length) return []
  choose(gone.reverse(), tokens)
  const lines = gone.flatMap(({ form }) => form ?? [])
  const missing = gone.length - lines.length
  return [
    [
      "What the person wrote, the newest first, … where it is shortened. All of it still holds, unless something newer says otherwise:",
      ...lines,
      ...(missing ? [`and ${missing} others, which are not shown here.`] : []),
    ].join("\n"),
  ]
}

/** Chooses the form of each message, the most important first, until the tokens are used. If some are left, shortened
 * messages are shown whole, the newest first. */
function choose(gone: Said[], tokens: number): void {
  let rest = tokens
  const give = (said: Said, text: string) => {
    // Further lines are indented, so that they do not look like another message.
    const form = `- ${said.name} ${text.replaceAll("\n", "\n  ")}`
    const cost = estimateTokens(form) + 1 - said.tokens
    if (cost > rest) return
    rest -= cost
    Object.assign(said, { form, tokens: said.tokens + cost })
  }
  const [newest, ...others] = gone
  const first = others.at(-1)
  give(newest!, textWithin(newest!.text, tokens * wordShares.newest))
  if (first) give(first, textWithin(first.text, tokens * wordShares.first))
  const between = others.slice(0, -1)
  for (const said of between) if (said.isLimit) give(said, limitsOf(said.text))
  for (const said of between) if (!said.isLimit) give(said, oneLine(said.text, shortened))
  for (const said of gone) if (said.form) give(said, said.text)
}

/** The beginning, and the sentences that forbid or demand something. */
function limitsOf(text: string): string {
  const line = oneLine(text, shortened)
  if (!line.endsWith("…")) return line
  const sentences = text.split(/(?<=[.!?。！？])\s+|\n+|(?<=[。！？])/)
  const limits = sentences.filter((sentence) => rules.test(sentence)).join(" … ")
  return `${oneLine(text, shortened / 2)} ${oneLine(limits, shortened * 1.5)}`
}
