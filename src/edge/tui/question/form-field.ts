// One field of a form: what the person has filled in, the keys that change it, and how it is drawn. Text and numbers are
// typed; of a choice one option is chosen with the arrow keys; of several options each is ticked with the space bar.
import { type FormContent, type FormField, readTyped } from "#client/check-form.ts"
import type { Key } from "#edge/tui/input/key.ts"
import type { Line, View } from "#edge/tui/screen/line.ts"
import { safeLine } from "#edge/tui/screen/safe.ts"
import { cutTo, wrapTo } from "#edge/tui/screen/width.ts"
import { createTextLine } from "./text-line.ts"

export type FieldInput = Readonly<{
  field: FormField
  /** Undefined if it is not filled in. */
  value(): FormContent[string] | undefined
  /** Returns false if the key means nothing here. */
  handle(key: Key): boolean
  /** What is filled in, in one line. */
  text(): string
  /** The lines to fill it in, and the caret. */
  view(view: View): { lines: Line[]; caret: { row: number; column: number } }
}>

type Option = { value: string | boolean; title: string }

/** Options that are shown beside the one at the caret, on each side. */
const shownOptions = 4
const yesOrNo: Option[] = [
  { value: true, title: "yes" },
  { value: false, title: "no" },
]

export function createFieldInput(field: FormField): FieldInput {
  if (field.kind === "boolean") return createChoice(field, yesOrNo)
  if (field.kind === "choice" || field.kind === "choices") return createChoice(field, field.options ?? [])
  return createTyped(field)
}

/** `integer (required; from 1 to 100) Your favourite number` */
export function labelOf(field: FormField): string {
  const { name, title, description, kind, required, format, min, max } = field
  const of = kind === "text" ? " characters" : kind === "choices" ? " choices" : ""
  const limits = [min === undefined ? "" : `at least ${min}`, max === undefined ? "" : `at most ${max}`]
  const limit = limits.filter(Boolean).join(", ")
  const hints = [
    required ? "required" : "",
    format ?? (kind === "number" || kind === "integer" ? kind : ""),
    limit && `${limit}${of}`,
  ].filter(Boolean)
  const about = [title, description].filter((text) => text && text !== name).join(": ")
  return [safeLine(name), hints.length ? `(${safeLine(hints.join("; "))})` : "", safeLine(about)]
    .filter(Boolean)
    .join(" ")
}

function createTyped(field: FormField): FieldInput {
  const isSecret = field.format === "password"
  const line = createTextLine(field.default === undefined ? "" : String(field.default), { isSecret })
  return Object.freeze({
    field,
    value: () => (line.text.trim() ? readTyped(field, line.text) : undefined),
    handle: line.handle,
    text: () => (isSecret ? "•".repeat(line.text.length) : line.text),
    view({ columns }: View) {
      const { line: shown, column } = line.view(columns - 5)
      return { lines: [`    ${shown}`], caret: { row: 0, column: column + 4 } }
    },
  })
}

function createChoice(field: FormField, options: readonly Option[]): FieldInput {
  const isSeveral = field.kind === "choices"
  const chosen = new Set(
    [field.default ?? []].flat().map((value) => options.findIndex((one) => one.value === value)),
  )
  let at = Math.max(0, ...[...chosen].slice(0, 1))

  function handle({ name, ctrl, alt, text }: Key): boolean {
    if (name === "left" || name === "right") go(at + (name === "left" ? -1 : 1))
    else if (name === "backspace" || name === "delete") chosen.clear()
    else if (name === "space" || text === " ") isSeveral ? toggle() : go(chosen.size ? at + 1 : at)
    else if (text && text.length === 1 && !ctrl && !alt) return find(text.toLowerCase())
    else return false
    return true
  }

  function go(to: number): void {
    // The first key chooses what the mark is on.
    at = !isSeveral && !chosen.size ? at : (to + options.length) % options.length
    if (!isSeveral) choose()
  }

  function find(letter: string): boolean {
    const order = options.map((_, i) => (at + 1 + i) % options.length)
    const found = order.find((i) => options[i]!.title.toLowerCase().startsWith(letter))
    if (found === undefined) return false
    at = found
    if (!isSeveral) choose()
    return true
  }

  function choose(): void {
    chosen.clear()
    chosen.add(at)
  }

  function toggle(): void {
    if (!chosen.delete(at)) chosen.add(at)
  }

  const values = () => options.filter((_, i) => chosen.has(i)).map(({ value }) => value)

  function view({ columns, paint }: View) {
    const start = Math.max(0, at - shownOptions)
    const end = Math.min(options.length, at + shownOptions + 1)
    const marks = isSeveral ? ["[x]", "[ ]"] : ["(•)", "( )"]
    const shown = options.slice(start, end).map(({ title }, i) => {
      const text = `${chosen.has(start + i) ? marks[0] : marks[1]} ${cutTo(safeLine(title), columns - 8)}`
      return start + i === at ? paint("accent", text) : text
    })
    const all = [...(start ? ["…"] : []), ...shown, ...(end < options.length ? ["…"] : [])]
    return { lines: wrapTo(`    ${all.join("  ")}`, columns, 4), caret: { row: 0, column: 4 } }
  }

  return Object.freeze({
    field,
    value() {
      const given = values()
      return isSeveral ? (given.length ? (given as string[]) : undefined) : given[0]
    },
    handle,
    text: () =>
      options
        .filter((_, i) => chosen.has(i))
        .map(({ title }) => title)
        .join(", "),
    view,
  })
}
