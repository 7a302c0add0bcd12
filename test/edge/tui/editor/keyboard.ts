// An editor with a keyboard: keys by their written form, text as typed, and the screen as plain text.

import type { Complete } from "#edge/tui/editor/completion.ts"
import { createEditor, type Result } from "#edge/tui/editor/editor.ts"
import { parseKey } from "#edge/tui/input/key.ts"
import { createKeyReader } from "#edge/tui/input/key-reader.ts"
import { createKeymap } from "#edge/tui/input/keymap.ts"
import type { Paint } from "#edge/tui/screen/line.ts"
import { clustersOf, widthOf } from "#edge/tui/screen/width.ts"

type Setup = { entries?: string[]; complete?: Complete; files?: string[]; paint?: Paint }

export function createKeyboard({ entries = [], complete, files = [], paint }: Setup = {}) {
  const keymap = createKeymap()
  let changes = 0
  const editor = createEditor({
    keymap,
    paint: paint ?? ((_, text) => text),
    history: { entries, add: (text) => void entries.push(text) },
    complete: complete ?? (async () => []),
    isFile: (path) => files.includes(path),
    onChange: () => void changes++,
  })
  const none = { ctrl: false, alt: false, shift: false }
  return {
    editor,
    keymap,
    changes: () => changes,
    /** Keys with blanks between them. */
    press: (keys: string): Result => {
      const results = keys.split(" ").map((key) => editor.handle(parseKey(key)!))
      return results.at(-1)!
    },
    /** As the terminal sends it. */
    type: (text: string): Result => {
      const results: Result[] = []
      createKeyReader((key) => results.push(editor.handle(key))).add(Buffer.from(text))
      return results.at(-1)!
    },
    paste: (text: string): Result => editor.handle({ name: "paste", ...none, text }),
    /** The rows, with `|` at the caret. */
    screen: (columns = 40, rows = 10): string[] => {
      const { lines, caret } = editor.view(columns, rows)
      return lines.map((line, row) => (row === caret.row ? withCaret(line, caret.column) : line))
    },
  }
}

function withCaret(line: string, column: number): string {
  const clusters = clustersOf(line)
  const at = clusters.findIndex((_, index) => widthOf(clusters.slice(0, index).join("")) >= column)
  return at < 0 ? `${line}|` : [...clusters.slice(0, at), "|", ...clusters.slice(at)].join("")
}
