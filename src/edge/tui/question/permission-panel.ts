// Asks whether a tool call may run. One key answers; words are a rejection that the model reads. The rule that "always"
// would create is shown first and can be changed.
import type { Client, PermissionRequest } from "#client/client.ts"
import type { Key } from "#edge/tui/input/key.ts"
import type { Line, Tail, View } from "#edge/tui/screen/line.ts"
import { safe, safeLine } from "#edge/tui/screen/safe.ts"
import { cutTo, wrapTo } from "#edge/tui/screen/width.ts"
import type { Panel } from "./panel.ts"
import { createTextLine, type TextLine } from "./text-line.ts"

export type PermissionReply = Omit<Parameters<Client["replyPermission"]>[0], "id">

type Options = {
  request: PermissionRequest
  /** How many more questions wait. */
  more(): number
  /** Draws a change; without it, its lines are shown as they are. */
  diff(preview: string, view: View): Line[]
  /** Shows the whole change in the transcript. */
  showAll(): void
  /** Until then keys are ignored: the person was typing when the question came. */
  quietUntil: number
  done(reply: PermissionReply | undefined): void
}

/** What the panel waits for: a key, the reason of a rejection, or the rule for "always". */
type Step = { kind: "choose" } | { kind: "words"; line: TextLine } | { kind: "rule"; line: TextLine }

export function createPermissionPanel(options: Options): Panel {
  const { request, done } = options
  const rules = request.needs.flatMap((need) => need.rules)
  const canBeAlways = request.needs.length > 0 && request.needs.every((need) => need.rules.length > 0)
  const isEdit =
    canBeAlways && request.needs.every(({ permission }) => /^file\.(edit|write)$/.test(permission))
  let step: Step = { kind: "choose" }

  function handle(key: Key): boolean {
    if (step.kind === "choose") return Date.now() < options.quietUntil || choose(key)
    if (key.name === "escape" || (key.ctrl && key.name === "c")) step = { kind: "choose" }
    else if (key.name === "enter") finish(step)
    else return step.line.handle(key)
    return true
  }

  function choose({ name, ctrl, alt }: Key): boolean {
    if (name === "escape" || (ctrl && name === "c")) done({ reply: "reject" })
    else if (ctrl || alt) return false
    else if (name === "y" || name === "o") done({ reply: "once" })
    else if (name === "n" || name === "r") done({ reply: "reject" })
    else if (name === "t" || name === "tab") step = { kind: "words", line: createTextLine() }
    else if (name === "a" && canBeAlways) step = { kind: "rule", line: createTextLine(ruleText()) }
    else if (name === "s" && canBeAlways) done({ reply: "always", scope: "session" })
    else if (name === "e" && isEdit) done({ reply: "always", scope: "session", edits: true })
    else if (name === "d" && request.preview) options.showAll()
    else return false
    return true
  }

  function finish({ kind, line }: Exclude<Step, { kind: "choose" }>): void {
    const text = line.text.trim()
    if (kind === "words") done({ reply: "reject", ...(text ? { message: text } : {}) })
    else if (text === ruleText()) done({ reply: "always" })
  }

  function ruleText(): string {
    return rules.map(({ permission, pattern }) => `${permission}:${pattern}`).join(", ")
  }

  function view(view: View, rows: number): Tail {
    const head = headLines(view)
    const { lines: foot, caret } = footLines(view)
    const room = Math.max(0, rows - head.length - foot.length)
    const change = request.preview ? options.diff(request.preview, view) : []
    const isCut = change.length > room
    const shown = isCut ? change.slice(0, Math.max(0, room - 1)) : change
    const cut =
      isCut && room > 0
        ? [view.paint("dim", `… ${change.length - shown.length} more lines (d shows all)`)]
        : []
    const above = [...head, ...shown, ...cut]
    // On a low terminal the choices stay.
    const dropped = Math.max(0, above.length + foot.length - rows)
    const lines = [...above, ...foot].slice(dropped)
    return {
      lines,
      caret: { row: Math.max(0, lines.length - foot.length + caret.row), column: caret.column },
    }
  }

  function headLines({ columns, paint }: View): Line[] {
    const { needs, tool, agents = [], agent, task } = request
    const doer =
      agents.length > 1
        ? ` (${agents.join(", working for ")})`
        : task && agent
          ? ` (${agent}, on a task)`
          : ""
    const count = options.more() ? `, ${options.more()} more wait` : ""
    const title = needs.length
      ? `May ${safeLine(tool)}${safeLine(doer)} do this?${count}`
      : safeLine(request.title)
    return [
      ...wrapTo(paint("warning", title), columns),
      ...(task ? [paint("dim", cutTo(`  task: ${safeLine(task)}`, columns))] : []),
      ...needs.flatMap(({ permission, target, parts = [], changed }) => [
        ...safe(target)
          .split("\n")
          .flatMap((line, i) => wrapTo(i ? `    ${line}` : `  ${permission}  ${line}`, columns, 4)),
        ...(changed ? [paint("dim", "  it was allowed before and has changed since")] : []),
        ...parts
          .filter(({ why }) => why)
          .slice(0, 5)
          .flatMap(({ from, to, why }) =>
            wrapTo(
              `  ${paint("warning", "risky:")} ${safeLine(target.slice(from, to))} (${safeLine(why!)})`,
              columns,
              4,
            ),
          ),
      ]),
      ...(request.protected
        ? wrapTo(
            paint("warning", "  It would change what decides what runs, or leads out of the workspace."),
            columns,
            2,
          )
        : []),
    ]
  }

  function footLines({ columns, paint }: View): { lines: Line[]; caret: { row: number; column: number } } {
    if (step.kind === "choose") {
      const lines = wrapChoices(columns)
      return { lines, caret: { row: lines.length - 1, column: 0 } }
    }
    const label =
      step.kind === "words" ? "say what to do instead: " : "always allow (enter accepts, change it first): "
    const isNarrow = label.length > columns / 2
    const input = step.line.view(columns - (isNarrow ? 0 : label.length) - 1)
    const lines = isNarrow
      ? [paint("dim", cutTo(label, columns)), input.line]
      : [paint("dim", label) + input.line]
    return { lines, caret: { row: lines.length - 1, column: input.column + (isNarrow ? 0 : label.length) } }
  }

  /** A choice is not parted. */
  function wrapChoices(columns: number): Line[] {
    const lines: Line[] = []
    for (const choice of choices()) {
      const joined = lines.length ? `${lines.at(-1)}  ${choice}` : choice
      if (lines.length && joined.length > columns) lines.push(choice)
      else lines.splice(-1, 1, joined)
    }
    return lines.map((line) => cutTo(line, columns))
  }

  function choices(): string[] {
    return [
      "[y]es",
      ...(canBeAlways ? ["[a]lways…", "in this [s]ession"] : []),
      ...(isEdit ? ["all [e]dits"] : []),
      "[n]o",
      "[t]ell it what to do instead",
      ...(request.preview ? ["whole [d]iff"] : []),
    ]
  }

  return Object.freeze({ view, handle })
}
