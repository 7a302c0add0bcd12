// A list to choose from: what is typed filters it, arrow keys move, Enter chooses, Escape closes. With `preview`, the
// chosen entry is shown below the list.
import type { Key } from "#edge/tui/input/key.ts"
import type { Line, Tail, View } from "#edge/tui/screen/line.ts"
import { safeLine } from "#edge/tui/screen/safe.ts"
import { cutTo, widthOf } from "#edge/tui/screen/width.ts"
import type { Panel } from "./panel.ts"
import { createTextLine } from "./text-line.ts"

export type Item<T> = { value: T; label: string; detail?: string | undefined; isCurrent?: boolean }

export type List<T> = {
  title: string
  items: readonly Item<T>[]
  /** What is known of an item beside its label; asked for once. */
  preview?(value: T): Promise<string>
}

type ListOptions<T> = List<T> & { changed(): void; done(value: T | undefined): void }

const previewRows = 4
const mostRows = 12

export function createList<T>({ title, items, preview, changed, done }: ListOptions<T>): Panel {
  const filter = createTextLine()
  const previews = new Map<T, string>()
  let at = Math.max(
    0,
    items.findIndex(({ isCurrent }) => isCurrent),
  )
  let found = [...items]
  look()

  function handle(key: Key): boolean {
    const { name, ctrl } = key
    if (name === "escape" || (ctrl && name === "c")) done(undefined)
    else if (name === "enter") done(found[at]?.value)
    else if (name === "up" || (ctrl && name === "p")) go(at - 1)
    else if (name === "down" || (ctrl && name === "n") || name === "tab") go(at + 1)
    else if (name === "pageup") go(Math.max(0, at - mostRows))
    else if (name === "pagedown") go(Math.min(found.length - 1, at + mostRows))
    else if (filter.handle(key)) search()
    else return false
    return true
  }

  function go(to: number): void {
    if (found.length) at = (to + found.length) % found.length
    look()
  }

  function search(): void {
    found = findItems(items, filter.text)
    at = 0
    look()
  }

  function look(): void {
    const item = found[at]
    if (!preview || !item || previews.has(item.value)) return
    previews.set(item.value, "")
    void preview(item.value)
      .then((text) => previews.set(item.value, text))
      .catch(() => {})
      .finally(changed)
  }

  function view(view: View, rows: number): Tail {
    const { columns, paint } = view
    const below = preview && rows > previewRows + 6 ? previewLines(view) : []
    const room = Math.max(1, Math.min(mostRows, rows - 1 - below.length))
    const start = Math.max(0, Math.min(at - Math.floor(room / 2), found.length - room))
    const shown = found.slice(start, start + room)
    const wide = Math.min(
      Math.floor(columns / 2),
      Math.max(0, ...shown.map(({ label }) => widthOf(safeLine(label)))),
    )
    const count = found.length === items.length ? `${items.length}` : `${found.length} of ${items.length}`
    const head = `${paint("strong", safeLine(title))} ${paint("dim", `(${count}) `)}`
    const input = filter.view(Math.max(4, columns - widthOf(head) - 1))
    return {
      lines: [
        cutTo(head + input.line, columns),
        ...shown.map((item, i) => lineOf(item, start + i === at, wide, view)),
        ...(found.length ? [] : [paint("dim", "nothing fits")]),
        ...below,
      ].slice(0, Math.max(1, rows)),
      caret: { row: 0, column: Math.min(columns, widthOf(head) + input.column) },
    }
  }

  function previewLines({ columns, paint }: View): Line[] {
    const item = found[at]
    const text = (item && previews.get(item.value)) || ""
    const lines = text.split("\n").filter((line) => line.trim())
    return lines.slice(0, previewRows).map((line) => paint("dim", cutTo(`  ${safeLine(line)}`, columns)))
  }

  return Object.freeze({ view, handle })
}

/** The items that have all words of the text. */
export function findItems<T>(items: readonly Item<T>[], text: string): Item<T>[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const textOf = ({ label, detail = "" }: Item<T>) => `${label} ${detail}`.toLowerCase()
  return items.filter((item) => words.every((word) => textOf(item).includes(word)))
}

function lineOf<T>(item: Item<T>, isChosen: boolean, wide: number, { columns, paint }: View): Line {
  const label = cutTo(safeLine(item.label), wide)
  const mark = isChosen ? "›" : item.isCurrent ? "•" : " "
  const padded = `${mark} ${label}${" ".repeat(Math.max(0, wide - widthOf(label)))}`
  const detail = item.detail ? `  ${safeLine(item.detail)}` : ""
  const line = cutTo(padded + detail, columns)
  if (isChosen) return paint("accent", line)
  return line.startsWith(padded) ? padded + paint("dim", line.slice(padded.length)) : line
}
