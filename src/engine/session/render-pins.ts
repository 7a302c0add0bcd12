// What must outlive a compaction, in words: what the person wrote, the task list, what waits for a person or was refused,
// the files at work. It is rendered when a compaction is made and then stays as it is, byte for byte: what changes later
// is in the transcript behind it.
import type * as Permission from "#ability/permission/permission.ts"
import type { Item } from "#ability/tool/todo-list.ts"
import type * as Memory from "#knowledge/memory/memory.ts"
import { wordsOf } from "#knowledge/memory/working.ts"
import type * as Message from "#knowledge/message/message.ts"
import { linesWithin, oneLine, textWithin } from "./within.ts"

export type Pins = {
  /** Of the whole history. */
  state: Memory.State
  /** Of what the person wrote: whether it is still in the transcript. */
  isShown(message: Message.Info): boolean
  todos: readonly Pick<Item, "text" | "status">[]
  mode: "act" | "plan"
  pending: readonly Permission.Request[]
  /** Tokens. */
  budget: number
}

const marks: Record<string, string> = { pending: "[ ]", in_progress: "[>]", done: "[x]" }
/** How much of the budget each part may have at most. */
const shares = { words: 0.5, todos: 0.2, calls: 0.1, files: 0.1, references: 0.05 }
const shortened = 160

export function renderPins(pins: Pins): string {
  const { state, budget, mode } = pins
  const changed = state.files.filter((file) => file.changed > 0).reverse()
  return [
    ...renderWords(pins),
    ...(mode === "plan" ? ["The session was in plan mode when this was written."] : []),
    ...section("The task list:", todoLines(pins), budget * shares.todos),
    ...section("Waiting for the person's decision:", waitingLines(pins), budget * shares.calls),
    ...section(
      "Calls that were refused, the newest first:",
      state.refused.map(callLine).reverse(),
      budget * shares.calls,
    ),
    ...section(
      "Files changed in this session, the newest first; read them again before a change:",
      changed.map(({ path, changed: times, last }) => `- ${path}, ${times}×, last: ${oneLine(last, 120)}`),
      budget * shares.files,
    ),
    ...section(
      "Files that the person pointed at:",
      state.references.map(referenceLine).reverse(),
      budget * shares.references,
    ),
  ].join("\n\n")
}

/** Every word of the person counts: the newest as they were written, older ones in a line, the oldest at least as a
 * number. */
function renderWords({ state: { words }, isShown, budget }: Pins): string[] {
  const own = words.map((message, i) => ({ message, name: `(${i + 1} of ${words.length})` })).reverse()
  const gone = own.filter(({ message }) => !isShown(message))
  if (!gone.length) return []
  const tokens = budget * shares.words
  const [newest, ...others] = gone.map(({ message, name }) => `- ${name} ${wordsOf(message)}`)
  const whole = linesWithin([textWithin(newest!, tokens * 0.6), ...others], tokens * 0.8)
  const rest = gone
    .slice(whole.lines.length)
    .map(({ message, name }) => `- ${name} ${oneLine(wordsOf(message), shortened)}`)
  const short = linesWithin(rest, tokens * 0.2)
  return [
    [
      "What the person wrote, the newest first. All of it still holds, unless something newer says otherwise:",
      ...whole.lines,
      ...(short.lines.length ? [`Shortened, since they are older:`, ...short.lines] : []),
      ...(short.missing ? [`and ${short.missing} older ones, which are not shown here.`] : []),
    ].join("\n"),
  ]
}

/** What is done may be left out first. */
function todoLines({ todos }: Pins): string[] {
  const open = todos.filter(({ status }) => status !== "done")
  const done = todos.filter(({ status }) => status === "done")
  return [...open, ...done].map(({ text, status }) => `- ${marks[status] ?? "[ ]"} ${text}`)
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

function referenceLine({ data }: Message.Of<"file_reference">): string {
  const { path, startLine, endLine, status } = data
  const lines = startLine === undefined && endLine === undefined ? "" : `:${startLine ?? 1}-${endLine ?? ""}`
  return `- ${path}${lines}${status === "failed" ? " (could not be read)" : ""}`
}

function section(title: string, lines: string[], tokens: number): string[] {
  if (!lines.length) return []
  const { lines: shown, missing } = linesWithin(lines, tokens)
  return [[title, ...shown, ...(missing ? [`and ${missing} more.`] : [])].join("\n")]
}
