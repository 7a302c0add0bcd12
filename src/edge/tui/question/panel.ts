// A panel takes the keys instead of the editor until it is answered: a question, or a list to choose from.
import type { Key } from "#edge/tui/input/key.ts"
import type { Tail, View } from "#edge/tui/screen/line.ts"

export type Panel = Readonly<{
  /** At most `rows` lines. */
  view(view: View, rows: number): Tail
  /** Returns false if the key means nothing here. */
  handle(key: Key): boolean
}>

/** Shows a panel until `done` is called, and resolves to its value; undefined if it was closed without an answer. */
export type Open = <T>(create: (done: (value: T | undefined) => void) => Panel) => Promise<T | undefined>

/** Milliseconds: who has typed so recently may not have seen the question. Keys count again after a pause. */
const recent = 1_000
const quiet = 600

/** The open panels; the last one that was opened is shown. */
export function createPanels(refresh: () => void) {
  const panels: Panel[] = []
  const open: Open = (create) =>
    new Promise((resolve) => {
      const panel = create((value) => {
        const at = panels.indexOf(panel)
        if (at >= 0) panels.splice(at, 1)
        refresh()
        resolve(value)
      })
      panels.push(panel)
      refresh()
    })
  return Object.freeze({ open, current: () => panels.at(-1) })
}

/** Tells for each key whether it still belongs to what the person was typing when the question came. */
export function createQuiet(typedAt: number): () => boolean {
  let until = Date.now() - typedAt < recent ? Date.now() + quiet : 0
  return () => {
    if (Date.now() >= until) return false
    until = Date.now() + quiet
    return true
  }
}
