// Asks whether a tool call may run. One key answers; words are a rejection that the model reads. The rule that "always"
// would create is shown first and can be changed.
import type { Client, PermissionRequest } from "#client/client.ts"
import { ruleWords } from "#client/permission-words.ts"
import type { Key } from "#edge/tui/input/key.ts"
import type { Line, Tail, View } from "#edge/tui/screen/line.ts"
import { safeLine } from "#edge/tui/screen/safe.ts"
import { cutTo, wrapTo } from "#edge/tui/screen/width.ts"
import type { Panel } from "./panel.ts"
import { headLines, shortHead } from "./permission-head.ts"
import { createTextLine, type TextLine } from "./text-line.ts"

type PermissionReply = Omit<Parameters<Client["replyPermission"]>[0], "id">

type Options = {
  request: PermissionRequest
  /** How many more questions wait. */
  more(): number
  /** Draws a change; without it, its lines are shown as they are. */
  diff(preview: string, view: View): Line[]
  /** Shows what was asked for and the whole change in the transcript. */
  showAll(draw: (view: View) => Line[]): void
  /** Whether a key is ignored, because the person was typing when the question came. */
  isQuiet(): boolean
  /** Sends the answer. Returns why it was refused; then the question stays. */
  reply(reply: PermissionReply): Promise<string | undefined>
  changed(): void
}

/** What the panel waits for: a key, the reason of a rejection, or the rules for "always", one in each line. */
type Step =
  | { kind: "choose" }
  | { kind: "words"; lines: TextLine[]; at: number }
  | { kind: "rules"; lines: TextLine[]; at: number }

export function createPermissionPanel(options: Options): Panel {
  const { request } = options
  const rules = request.needs
    .flatMap((need) => need.rules)
    .map(({ permission, pattern }) => `${permission}:${pattern}`)
  const canBeAlways = request.needs.length > 0 && request.needs.every((need) => need.rules.length > 0)
  const isEdit =
    canBeAlways && request.needs.every(({ permission }) => /^file\.(edit|write)$/.test(permission))
  let step: Step = { kind: "choose" }
  /** What was asked for, or its change, does not fit. */
  let isCut = false
  let problem: string | undefined
  let isSending = false

  function handle(key: Key): boolean {
    if (isSending) return true
    if (step.kind === "choose") return options.isQuiet() || choose(key)
    const { name, ctrl } = key
    if (name === "escape" || (ctrl && name === "c")) leaveStep()
    else if (name === "enter") finish(step)
    else if (name === "up" || name === "down") step.at = next(step, name === "up" ? -1 : 1)
    else if (step.lines[step.at]!.handle(key)) problem = undefined
    else return false
    return true
  }

  function choose({ name, ctrl, alt }: Key): boolean {
    if (name === "escape" || (ctrl && name === "c")) send({ reply: "reject" })
    else if (ctrl || alt) return false
    else if (name === "y" || name === "o") send({ reply: "once" })
    else if (name === "n" || name === "r") send({ reply: "reject" })
    else if (name === "t" || name === "tab") step = { kind: "words", lines: [createTextLine()], at: 0 }
    else if (name === "a" && canBeAlways)
      step = { kind: "rules", lines: rules.map((text) => createTextLine(text)), at: 0 }
    else if (name === "s" && canBeAlways) send({ reply: "always", scope: "session" })
    else if (name === "e" && isEdit) send({ reply: "always", scope: "session", edits: true })
    else if (name === "d" && (isCut || request.preview))
      options.showAll((view) => [...headLines(request, 0, view), ...changeLines(view)])
    else return false
    return true
  }

  function leaveStep(): void {
    step = { kind: "choose" }
    problem = undefined
  }

  function finish({ kind, lines }: Exclude<Step, { kind: "choose" }>): void {
    const texts = lines.map(({ text }) => text).filter((text) => text.trim())
    const [text] = texts
    if (kind === "words") send({ reply: "reject", ...(text ? { message: text.trim() } : {}) })
    else if (!text) leaveStep()
    else if (texts.join("\n") === rules.join("\n")) send({ reply: "always" })
    else send({ reply: "always", rules: texts })
  }

  function send(reply: PermissionReply): void {
    isSending = true
    void options.reply(reply).then((refused) => {
      isSending = false
      problem = refused
      options.changed()
    })
  }

  function view(view: View, rows: number): Tail {
    const whole = headLines(request, options.more(), view)
    const change = changeLines(view)
    isCut = false
    isCut = whole.length + change.length + footLines(view, rows).lines.length > rows
    const foot = footLines(view, rows)
    const head = whole.length + foot.lines.length > rows ? shortHead(request, options.more(), view) : whole
    const room = Math.max(0, rows - head.length - foot.lines.length)
    const isWhole = head === whole && change.length <= room
    const shown = isWhole ? change : change.slice(0, Math.max(0, room - 1))
    const hidden = whole.length + change.length - head.length - shown.length
    const cut =
      !isWhole && room > 0
        ? [view.paint("dim", cutTo(`… ${hidden} more lines (d shows all)`, view.columns))]
        : []
    // On a low terminal the choices stay.
    const above = [...head, ...shown, ...cut].slice(0, Math.max(0, rows - foot.lines.length))
    const lines = [...above, ...foot.lines].slice(-Math.max(1, rows))
    return {
      lines,
      caret: {
        row: Math.max(0, lines.length - foot.lines.length + foot.caret.row),
        column: foot.caret.column,
      },
    }
  }

  function changeLines(view: View): Line[] {
    return request.preview ? options.diff(request.preview, view) : []
  }

  function next({ at, lines }: { at: number; lines: TextLine[] }, by: number): number {
    return (at + by + lines.length) % lines.length
  }

  function footLines(view: View, rows: number): { lines: Line[]; caret: { row: number; column: number } } {
    const { columns, paint } = view
    const wrong = problem ? wrapTo(paint("error", `✗ ${safeLine(problem)}`), columns) : []
    if (step.kind === "choose") {
      const forms = choices().map((words) => wrapChoices(words, columns))
      const lines = forms.find(({ length }) => length < Math.max(2, rows)) ?? forms.at(-1)!
      const above = wrong.slice(0, 2)
      return { lines: [...above, ...lines], caret: { row: above.length + lines.length - 1, column: 0 } }
    }
    const label =
      step.kind === "words"
        ? "say what to do instead: "
        : rules.length > 1
          ? "always allow these (enter accepts, change them first; an empty one is left out):"
          : "always allow (enter accepts, change it first): "
    const isApart = label.length > columns / 2 || step.lines.length > 1
    const indent = isApart ? 0 : label.length
    const inputs = step.lines.map((line) => line.view(columns - indent - 1))
    const room = Math.max(1, rows - 1 - wrong.length)
    const start = Math.max(0, Math.min(step.at, inputs.length - room))
    const shown = inputs.slice(start, start + room).map(({ line }) => line)
    const head = isApart ? [paint("dim", cutTo(label, columns))] : []
    const body = isApart ? shown : [paint("dim", label) + shown[0]]
    const lines = [...meaning(view), ...wrong, ...head, ...body].slice(-Math.max(1, rows))
    return {
      lines,
      caret: { row: lines.length - body.length + step.at - start, column: inputs[step.at]!.column + indent },
    }
  }

  /** What the rules allow as they are written now. */
  function meaning({ columns, paint }: View): Line[] {
    if (step.kind !== "rules") return []
    const words = step.lines.flatMap(({ text }) => ruleWords(text) ?? [])
    return words.length ? wrapTo(`${paint("dim", "allows")} ${safeLine(words.join("; "))}`, columns, 2) : []
  }

  /** The choices in words, shorter, and as keys alone, for a terminal that is too low for the words. */
  function choices(): string[][] {
    const all: [long: string, short: string][] = [
      ["[y]es", "[y]es"],
      ...(canBeAlways
        ? ([
            ["[a]lways…", "[a]lways"],
            ["in this [s]ession", "[s]ession"],
          ] as [string, string][])
        : []),
      ...(isEdit ? ([["all [e]dits", "[e]dits"]] as [string, string][]) : []),
      ["[n]o", "[n]o"],
      ["[t]ell it what to do instead", "[t]ell"],
    ]
    if (isCut) all.push(request.preview ? ["whole [d]iff", "[d]iff"] : ["all [d]etails", "[d]etails"])
    const keys = all.map(([, short]) => /\[(.)\]/.exec(short)![1]).join("/")
    return [all.map(([long]) => long), all.map(([, short]) => short), [`keys: ${keys}`]]
  }

  return Object.freeze({ view, handle })
}

/** A choice is not parted. */
function wrapChoices(choices: readonly string[], columns: number): Line[] {
  const lines: Line[] = []
  for (const choice of choices) {
    const joined = lines.length ? `${lines.at(-1)}  ${choice}` : choice
    if (lines.length && joined.length > columns) lines.push(choice)
    else lines.splice(-1, 1, joined)
  }
  return lines.map((line) => cutTo(line, columns))
}
