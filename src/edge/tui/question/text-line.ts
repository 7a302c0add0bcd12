// One line of text in a panel: a filter, a reason, a rule, or a value of a form.
import type { Key } from "#edge/tui/input/key.ts"
import type { Line } from "#edge/tui/screen/line.ts"
import { safe } from "#edge/tui/screen/safe.ts"
import { clustersOf, widthOf } from "#edge/tui/screen/width.ts"

export type TextLine = ReturnType<typeof createTextLine>

export function createTextLine(first = "", options: { isSecret?: boolean } = {}) {
  let before = clustersOf(first)
  let after: string[] = []

  /** Returns false if the key does not change the line. */
  function handle({ name, ctrl, alt, text }: Key): boolean {
    if (name === "backspace" && !alt) before.pop()
    else if ((ctrl && name === "w") || (alt && name === "backspace")) deleteWord()
    else if (name === "delete") after.shift()
    else if (ctrl && name === "u") before = []
    else if (ctrl && name === "k") after = []
    else if (name === "left" || (ctrl && name === "b")) move(before, after, -1)
    else if (name === "right" || (ctrl && name === "f")) move(before, after, 1)
    else if (name === "home" || (ctrl && name === "a")) goTo(0)
    else if (name === "end" || (ctrl && name === "e")) goTo(before.length + after.length)
    else if (text !== undefined && name !== "enter" && name !== "tab")
      before.push(...clustersOf(oneLine(text)))
    else return false
    return true
  }

  function deleteWord(): void {
    while (before.at(-1) === " ") before.pop()
    while (before.length && before.at(-1) !== " ") before.pop()
  }

  function goTo(at: number): void {
    const all = [...before, ...after]
    before = all.slice(0, at)
    after = all.slice(at)
  }

  return Object.freeze({
    handle,
    get text() {
      return [...before, ...after].join("")
    },
    set(text: string) {
      before = clustersOf(oneLine(text))
      after = []
    },
    /** The part that fits, and the column of the caret. */
    view(columns: number): { line: Line; column: number } {
      const shown = (parts: string[]) =>
        options.isSecret ? "•".repeat(parts.length) : safeInLine(parts.join(""))
      let left = shown(before)
      while (widthOf(left) > columns - 1) left = clustersOf(left).slice(1).join("")
      let right = shown(after)
      while (widthOf(left) + widthOf(right) > columns) right = clustersOf(right).slice(0, -1).join("")
      return { line: left + right, column: widthOf(left) }
    },
  })
}

function move(before: string[], after: string[], by: -1 | 1): void {
  const moved = by < 0 ? before.pop() : after.shift()
  if (moved === undefined) return
  if (by < 0) after.unshift(moved)
  else before.push(moved)
}

/** A line break in a value that was given is shown as its code. */
function safeInLine(text: string): string {
  return safe(text).replaceAll("\n", "\\n")
}

function oneLine(text: string): string {
  return text.replace(/[\r\n\t]+/g, " ").replace(/[\u0000-\u001f\u007f-\u009f]/g, "")
}
