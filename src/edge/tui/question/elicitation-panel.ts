// A question of an MCP server or of the vault: a form to fill in, or an address that the person may open. The server is always named, and
// the address is only shown.
import { askerWords, type FormContent, problemOf } from "#client/check-form.ts"
import type { Client, ElicitationRequest } from "#client/client.ts"
import type { Key } from "#edge/tui/input/key.ts"
import type { Line, Tail, View } from "#edge/tui/screen/line.ts"
import { safe, safeLine } from "#edge/tui/screen/safe.ts"
import { cutTo, wrapTo } from "#edge/tui/screen/width.ts"
import { createFieldInput, type FieldInput, labelOf } from "./form-field.ts"
import type { Panel } from "./panel.ts"

type ElicitationReply = Omit<Parameters<Client["replyElicitation"]>[0], "id">

type Options = {
  request: ElicitationRequest
  /** How many more questions wait. */
  more(): number
  /** Whether a key is ignored, because the person was typing when the question came. */
  isQuiet(): boolean
  /** Sends the answer. Returns why it was refused; then the question stays. */
  reply(reply: ElicitationReply): Promise<string | undefined>
  changed(): void
  /** The person has left a question that was answered elsewhere. */
  left(): void
}

export type ElicitationPanel = Panel & {
  /** The question was answered elsewhere. True if the panel stays until Enter or Esc, because a password is being typed: the
   * rest of it must not go into the prompt. */
  withdraw(): boolean
}

export function createElicitationPanel(options: Options): ElicitationPanel {
  const { request } = options
  const inputs = (request.fields ?? []).map(createFieldInput)
  let at = 0
  let problem: string | undefined
  let isSending = false
  let isWithdrawn = false

  function handle(key: Key): boolean {
    const { name, ctrl, shift } = key
    if (isWithdrawn) {
      if (name === "enter" || name === "escape" || (ctrl && name === "c")) options.left()
      return true
    }
    if (isSending || options.isQuiet()) return true
    if (name === "escape" || (ctrl && name === "c")) send({ action: "cancel" })
    else if (ctrl && name === "d") send({ action: "decline" })
    else if (request.mode === "url" || !inputs.length) return decide(key)
    else if (name === "enter") finish()
    else if (name === "up" || (name === "tab" && shift)) go(at - 1)
    else if (name === "down" || name === "tab") go(at + 1)
    else if (inputs[at]!.handle(key)) problem = undefined
    else return false
    return true
  }

  /** A question without fields. */
  function decide({ name, ctrl, alt }: Key): boolean {
    if (ctrl || alt) return false
    if (name === "a" || name === "y") send({ action: "accept" })
    else if (name === "d" || name === "n") send({ action: "decline" })
    else if (name === "c") send({ action: "cancel" })
    else return false
    return true
  }

  function go(to: number): void {
    at = (to + inputs.length) % inputs.length
    problem = undefined
  }

  /** Sends the form, or goes to the first field that is wrong. */
  function finish(): void {
    const content: FormContent = {}
    for (const [i, { field, value }] of inputs.entries()) {
      const given = value()
      // What the server proposes is filled in at first: an empty field was emptied by the person.
      const { default: _, ...empty } = field
      problem = problemOf([empty], given === undefined ? {} : { [field.name]: given })
      if (problem) {
        at = i
        return
      }
      if (given !== undefined) content[field.name] = given
    }
    send({ action: "accept", content })
  }

  function send(reply: ElicitationReply): void {
    isSending = true
    void options.reply(reply).then((refused) => {
      isSending = false
      problem = refused
      options.changed()
    })
  }

  function withdraw(): boolean {
    isWithdrawn = !isSending && inputs.some(({ field, text }) => field.format === "password" && text())
    if (isWithdrawn) options.changed()
    return isWithdrawn
  }

  function view(view: View, rows: number): Tail {
    if (isWithdrawn) {
      const text = "It was answered elsewhere. What you have typed is thrown away. enter closes"
      const lines = wrapTo(view.paint("warning", text), view.columns).slice(-Math.max(1, rows))
      return { lines, caret: { row: lines.length - 1, column: 0 } }
    }
    const isLow = rows < 8
    const { columns, paint } = view
    const foot = [
      ...(problem ? wrapTo(paint("error", `✗ ${safeLine(problem)}`), columns).slice(0, isLow ? 1 : 4) : []),
      ...footLines(view, isLow),
    ].slice(-Math.max(1, rows - 1))
    const body = bodyLines(view, isLow, Math.max(1, rows - foot.length))
    const head = headLines(view, isLow).slice(0, Math.max(0, rows - foot.length - body.lines.length))
    const lines = [...head, ...body.lines, ...foot].slice(-Math.max(1, rows))
    return { lines, caret: { row: Math.min(lines.length - 1, head.length + body.row), column: body.column } }
  }

  function headLines({ columns, paint }: View, isLow: boolean): Line[] {
    const count = options.more() ? `, ${options.more()} more wait` : ""
    const title = `${safeLine(askerWords(request.server))} asks${count}:`
    const message = safe(request.message).split("\n")
    return [
      ...wrapTo(paint("warning", title), columns),
      ...(isLow ? [] : message.flatMap((line) => wrapTo(`  ${line}`, columns, 2))),
    ]
  }

  function bodyLines(
    view: View,
    isLow: boolean,
    rows: number,
  ): { lines: Line[]; row: number; column: number } {
    const { columns, paint } = view
    if (request.url !== undefined) {
      const about = "  Open it yourself if you trust it; accept when you are done with it."
      const address = wrapTo(`  ${paint("link", safeLine(request.url))}`, columns, 2)
      return {
        lines: [...address, ...(isLow ? [] : wrapTo(about, columns, 2))].slice(0, rows),
        row: 0,
        column: 0,
      }
    }
    if (!inputs.length) return { lines: [], row: 0, column: 0 }
    const focused = inputs[at]!
    const label = wrapTo(`${paint("accent", "›")} ${labelOf(focused.field)}`, columns, 2)
    const input = focused.view(view)
    const shownLabel = rows > input.lines.length ? label.slice(0, rows - input.lines.length) : []
    const open = [...shownLabel, ...input.lines].slice(-rows)
    // The fields around the open one, as many as fit.
    const room = rows - open.length - (isLow ? 0 : 2)
    const before = Math.max(0, Math.min(at, room - Math.min(inputs.length - at - 1, Math.floor(room / 2))))
    const after = Math.max(0, Math.min(inputs.length - at - 1, room - before))
    const lines = [
      ...inputs.slice(at - before, at).map((one) => closedLine(one, view)),
      ...open,
      ...inputs.slice(at + 1, at + 1 + after).map((one) => closedLine(one, view)),
    ]
    return {
      lines,
      row: before + Math.min(open.length - 1, shownLabel.length + input.caret.row),
      column: input.caret.column,
    }
  }

  function closedLine({ field, text }: FieldInput, { columns, paint }: View): Line {
    const value = safeLine(text())
    const name = `  ${safeLine(field.name)}${field.required ? " (required)" : ""}: `
    return cutTo(paint("dim", name) + value, columns)
  }

  function footLines({ columns, paint }: View, isLow: boolean): Line[] {
    const place = inputs.length > 1 ? `field ${at + 1} of ${inputs.length}` : ""
    const words =
      request.mode === "url" || !inputs.length
        ? ["[a]ccept", "[d]ecline", "[c]ancel"]
        : isLow
          ? ["enter sends", "^D no", "esc"]
          : [
              "enter sends",
              ...(inputs.length > 1 ? ["tab next field"] : []),
              ...(/^(choice|choices|boolean)$/.test(inputs[at]!.field.kind) ? ["← → space choose"] : []),
              "ctrl+d declines",
              "esc cancels",
              place,
            ]
    const text = words.filter(Boolean).join(isLow ? " " : "  ")
    return isLow ? [paint("dim", cutTo(text, columns))] : wrapTo(paint("dim", text), columns)
  }

  return Object.freeze({ view, handle, withdraw })
}
