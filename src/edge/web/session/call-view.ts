// A tool call with its result: what it did in a line, and folded below it what it printed, changed, or gave to another agent.
import { useEffect } from "preact/hooks"
import type { ToolCall, ToolResultMessage } from "#client/client.ts"
import { argument, kindOf, wordsOf } from "#client/describe-call.ts"
import { withColors } from "#client/with-colors.ts"
import { duration } from "#edge/web/base/format.ts"
import { html } from "#edge/web/base/html.ts"
import { CopyButton } from "#edge/web/part/copy-button.ts"
import { lazy } from "#edge/web/store/lazy.ts"
import type { OpenSession } from "#edge/web/store/open-session.ts"
import { tasksOf } from "#edge/web/store/sessions.ts"
import { DiffView } from "./diff-view.ts"
import type { ShowMessage } from "./task-view.ts"
import { TerminalText } from "./terminal-text.ts"

const TaskView = lazy(async () => (await import("./task-view.ts")).TaskView)
const maxShown = 50_000
const maxLine = 200

/** `View` draws the messages of tasks. */
type Props = { call: ToolCall; open: OpenSession; View: ShowMessage }

export function CallView({ call, open, View }: Props) {
  const result = open.results.value.get(call.id)
  const { verb, subject } = wordsOf(call, String(call.name), result?.data.metadata?.title)
  const { status } = open.session()
  const isEnded = status !== "busy" && status !== "waiting"
  const state = result
    ? result.data.status
    : call.approval === "denied"
      ? "denied"
      : isEnded
        ? "not run"
        : call.approval === "pending"
          ? "waiting"
          : "running"
  const printed = open.progress.value.get(call.id)
  const tasks = tasksOf(open.id, call.id)
  useEffect(() => {
    if (call.name === "subtask" || call.name === "delegate") open.loadTasks()
  }, [])
  const diff = diffOf(result)
  return html`<details class="call" data-state=${state} data-kind=${kindOf(call.name)} open=${diff !== undefined || tasks.length > 0}>
    <summary>
      <span class="verb">${verb}</span> <span class="subject">${subject.slice(0, maxLine)}</span>
      <span class="dim">${result ? ` ${result.data.status === "success" ? duration(result.data.duration) : state}` : ` ${state}`}</span>
      ${!result && printed ? html`<span class="last-line dim">${lastLine(printed)}</span>` : null}
    </summary>
    ${tasks.map((task) => html`<${TaskView} key=${task.id} task=${task} View=${View} />`)}
    <${Given} call=${call} />
    ${!result && printed ? html`<${TerminalText} text=${printed} />` : null}
    ${result ? html`<${Result} result=${result} diff=${diff} />` : null}
  </details>`
}

/** What the summary cannot say: a long command, or the arguments of a tool that is not known. */
function Given({ call }: { call: ToolCall }) {
  const command = argument(call, "command")
  if (call.name === "bash" && typeof command === "string")
    return html`<div class="given"><pre class="command">$ ${command}</pre><${CopyButton} text=${command} /></div>`
  if (call.invalid !== undefined)
    return html`<pre class="given output">${call.invalid.slice(0, maxShown)}</pre>`
  if (kindOf(call.name) !== "other") return null
  return html`<pre class="given output">${JSON.stringify(call.arguments, undefined, 2).slice(0, maxShown)}</pre>`
}

function Result({ result: { data }, diff }: { result: ToolResultMessage; diff: string | undefined }) {
  if (data.error) return html`<p class="error output">${String(data.error.message).slice(0, maxShown)}</p>`
  if (diff !== undefined) return html`<${DiffView} text=${diff} />`
  const text = typeof data.output === "string" ? data.output : JSON.stringify(data.output, undefined, 2)
  if (!text) return html`<p class="dim">No output.</p>`
  const cut =
    text.length > maxShown ? `${text.slice(0, maxShown)}\n… ${text.length - maxShown} more characters` : text
  return html`<${TerminalText} text=${withColors(cut, data.colors)} />`
}

function diffOf(result: ToolResultMessage | undefined): string | undefined {
  const data = result?.data.metadata?.data as { diff?: unknown } | undefined
  return typeof data?.diff === "string" && data.diff ? data.diff : undefined
}

function lastLine(printed: string): string {
  const line =
    printed
      .trimEnd()
      .split(/[\r\n]/)
      .at(-1) ?? ""
  return line.replace(/\x1b\[[0-?]*[ -/]*[@-~]/g, "").slice(0, maxLine)
}
