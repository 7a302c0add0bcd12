// A tool call: one line that changes from running to done or failed, with its change or its folded output below.
import type { ToolCall, ToolResultMessage } from "#client/client.ts"
import * as DescribeCall from "#client/describe-call.ts"
import type { Line, View } from "#edge/tui/screen/line.ts"
import { safeLine } from "#edge/tui/screen/safe.ts"
import { cutTo, widthOf, wrapTo } from "#edge/tui/screen/width.ts"
import { diffLines } from "./diff-lines.ts"
import type { Entry } from "./entries.ts"
import {
  expandHint,
  type Folded,
  foldLines,
  foldText,
  noOutput,
  plainLines,
  type Shown,
  wholeLines,
  withoutSequences,
} from "./fold.ts"
import { secondsOf } from "./seconds.ts"
import { createTasks, type Tasks } from "./tasks.ts"

type Call = Pick<ToolCall, "name" | "arguments" | "invalid">
type Result = ToolResultMessage["data"]

export type CallEntry = Entry & {
  start(time: number): void
  report(text: string): void
  finish(result: Result): void
  tasks: Tasks
  /** A call of a session that does the task of this one. */
  addTaskCall(id: string, call: Call): void
}

/** A diff of more lines is folded. */
const maxDiff = 40
const maxReason = 600
/** What the model is told, and what a person reads instead. */
const forPeople: [told: RegExp, shown: string][] = [
  [/^"[^"\n]*" was not run: the person rejected it(?:\.| and says(?=:))/, "you rejected it"],
  [/^oldText was/, "the text to replace was"],
  [/^The arguments of "[^"\n]*" do not fit, so it was not run:\n- (?:[\w.]+: )?/, ""],
]
/** Up to the end of the line, or to a full stop before a capital letter. */
const firstSentence = /^.+?(?=\n|$|(?<=[.!?])\s+["'(]?\p{Lu})/u

/** `fold` keeps the whole output for later. */
export function createCall(call: Call | undefined, fold: (folded: Folded) => void): CallEntry {
  let result: Result | undefined
  let started = 0
  let progress = ""
  const tasks = createTasks()
  let isTaken = false

  function take(view: View): Line[] {
    if (!result || isTaken) return []
    isTaken = true
    const { lines, folded } = belowOf(call, result, view)
    if (folded) fold(folded)
    return [...headLines(view, result), ...lines]
  }

  function headLines(view: View, { status, error, output, duration, toolName, metadata }: Result): Line[] {
    const { paint, columns } = view
    const isDone = status === "success"
    const words = wordsOf(call, call?.name ?? toolName, isDone ? metadata?.title : undefined)
    const mark =
      isDone && !hasFailed(metadata)
        ? paint("success", "✓")
        : paint(status === "error" ? "error" : "warning", "✗")
    const known = [secondsOf(duration), tasks.count()].filter(Boolean).join(", ")
    const facts = known && `  ${known}`
    if (isDone) return [headLine(view, { mark, ...words, facts })]
    const { short, isCut } = reasonOf(call?.name ?? toolName, error?.message ?? textOf(output))
    const reason = `${short}${isCut ? expandHint(view) : ""}`
    const text = [words.verb, cutTo(words.subject, 160)].filter(Boolean).join(" ")
    return wrapTo(`${mark} ${paint("strong", text)}: ${reason}${facts && paint("dim", facts)}`, columns, 2)
  }

  /** A finished call that waits for those before it is shown without its output. */
  function tail(view: View): Line[] {
    const { paint } = view
    if (isTaken) return []
    if (result) return headLines(view, result).slice(0, 1)
    const words = wordsOf(call, call?.name ?? "")
    const time = started ? secondsOf(Date.now() - started) : ""
    const facts = [time, progress].filter(Boolean).join(" · ")
    const mark = paint("accent", started || tasks.count() ? "●" : "○")
    const head = headLine(view, { mark, ...words, facts: facts && `  ${facts}` })
    return [head, ...tasks.lines(words.subject, view)]
  }

  return {
    kind: "call",
    isDone: () => result !== undefined,
    take,
    tail,
    start(time) {
      started ||= time
    },
    report(text) {
      const line = plainLines(text.slice(-4_000)).at(-1)
      if (line) progress = line.trim()
    },
    finish(given) {
      result ??= given
    },
    tasks,
    addTaskCall(id, one) {
      const { verb, subject } = wordsOf(one, one.name)
      tasks.addCall(id, `${verb} ${subject}`.trim())
    },
  }
}

/** A command that ran and ended with an error is a result like others for the model. */
function hasFailed(metadata: Result["metadata"]): boolean {
  const { exitCode, signal } = (metadata?.data ?? {}) as { exitCode?: unknown; signal?: unknown }
  return (typeof exitCode === "number" && exitCode !== 0) || typeof signal === "string"
}

type Words = { verb: string; subject: string }

/** In one line, escaped. */
function wordsOf(call: Call | undefined, tool: string, title?: unknown): Words {
  const { verb, subject } = DescribeCall.wordsOf(call, tool, title)
  return { verb: oneLine(verb), subject: oneLine(call?.invalid ?? subject) }
}

function oneLine(text: string): string {
  return safeLine(withoutSequences(text.slice(0, 1_000)))
}

/** The subject gives way first. Its end tells the outcome: `(exit 1)`, `(+3 -1)`. */
function headLine(
  { columns, paint }: View,
  { mark, verb, subject, facts }: Words & { mark: string; facts: string },
): Line {
  const given = columns - 2 - widthOf(verb) - 1
  const shown = cutTo(facts, Math.max(0, given - Math.min(widthOf(subject), Math.floor(given / 2))))
  const rest = Math.max(1, given - widthOf(shown))
  const end = / \([^()]{1,20}\)$/.exec(subject)?.[0] ?? ""
  const isCut = widthOf(subject) > rest
  const about =
    isCut && end ? cutTo(subject.slice(0, -end.length), rest - widthOf(end)) + end : cutTo(subject, rest)
  return cutTo(`${mark} ${paint("strong", verb)} ${about}${shown && paint("dim", shown)}`.trimEnd(), columns)
}

/** What is shown below the line. Results that only the model needs are kept for the key that expands. */
function belowOf(call: Call | undefined, result: Result, view: View): Shown {
  const { status, metadata } = result
  const name = call?.name ?? result.toolName
  const { verb, subject } = wordsOf(call, name, status === "success" ? metadata?.title : undefined)
  const title = `${verb} ${subject}`.trim()
  const diff = diffOf(call, result)
  const inner = (given: View) => ({ ...given, columns: given.columns - 2 })
  const indented = (lines: Line[]) => lines.map((line) => `  ${line}`)
  if (diff)
    return foldLines(title, (given) => indented(diffLines(diff, inner(given))), { view, most: maxDiff })
  const text = status === "success" ? textOf(result.output) : (result.error?.message ?? textOf(result.output))
  const kind = DescribeCall.kindOf(name)
  if (status === "success" && (kind === "execute" || kind === "other" || hasTask(name)))
    return foldText(title, text.trim() === noOutput ? "" : text, view, result.colors)
  if (status !== "success" && !reasonOf(name, text).isCut) return { lines: [] }
  return text.trim() === ""
    ? { lines: [] }
    : { lines: [], folded: { title, lines: (given) => wholeLines(plainLines(text), given) } }
}

/** The answer of another agent is for people too. */
function hasTask(name: string): boolean {
  return name === "subtask" || name === "delegate"
}

/** Why a call failed, for people: the first sentence of what the model reads. Of a command it is all, since it has output. */
function reasonOf(tool: string, message: string): { short: string; isCut: boolean } {
  const text = withoutSequences(message).trim()
  const isShell = DescribeCall.kindOf(tool) === "execute"
  const words = forPeople.reduce((said, [told, shown]) => said.replace(told, shown), text)
  const first = isShell ? words : (firstSentence.exec(words)?.[0] ?? words)
  const short = safeLine(first.slice(0, maxReason)).replace(/:$/, "")
  return { short, isCut: words.length > first.length || first.length > maxReason }
}

/** The change of an edit, or a new file as added lines. */
function diffOf(call: Call | undefined, { status, metadata }: Result): string | undefined {
  if (status !== "success") return undefined
  const data = metadata?.data as { diff?: unknown; created?: unknown } | undefined
  if (typeof data?.diff === "string" && data.diff !== "") return data.diff
  const content =
    call?.name === "write" && data?.created === true ? DescribeCall.argument(call, "content") : undefined
  if (typeof content !== "string" || content === "") return undefined
  return content.replace(/\n$/, "").replace(/^/gm, "+")
}

function textOf(output: unknown): string {
  if (output === null || output === undefined) return ""
  return typeof output === "string" ? output : JSON.stringify(output, null, 2)
}
