// A panel takes the keys instead of the editor until it is answered: a question, or a list to choose from.
import type { Key } from "#edge/tui/input/key.ts"
import type { Tail, View } from "#edge/tui/screen/line.ts"

export type Panel = Readonly<{
  /** At most `rows` lines. */
  view(view: View, rows: number): Tail
  /** Returns false if the key means nothing here. */
  handle(key: Key): boolean
}>

/** Shows a panel until `done` is called, and resolves to its value; undefined if it was closed without an answer. `isQuiet`
 * tells for each key whether it still belongs to what the person was typing when the panel appeared. */
export type Open = <T>(
  create: (done: (value: T | undefined) => void, isQuiet: () => boolean) => Panel,
) => Promise<T | undefined>

/** Milliseconds: who has typed so recently may not have seen the question. Keys count again after a pause. */
const recent = 1_000
const quiet = 600

/** The open panels; the last one that was opened is shown. `typedAt`: when the person last typed. */
export function createPanels(refresh: () => void, typedAt: () => number) {
  const panels: Panel[] = []
  /** Of the panel that is shown. */
  let isQuiet = () => false

  const open: Open = (create) =>
    new Promise((resolve) => {
      const close = (value: Parameters<typeof resolve>[0]) => {
        const isShown = panels.at(-1) === panel
        const at = panels.indexOf(panel)
        if (at >= 0) panels.splice(at, 1)
        if (isShown) show()
        resolve(value)
      }
      const panel = create(close, () => isQuiet())
      panels.push(panel)
      show()
    })

  function show(): void {
    isQuiet = createQuiet(typedAt())
    refresh()
  }

  return Object.freeze({ open, current: () => panels.at(-1) })
}

function createQuiet(typedAt: number): () => boolean {
  let until = Date.now() - typedAt < recent ? Date.now() + quiet : 0
  return () => {
    if (Date.now() >= until) return false
    until = Date.now() + quiet
    return true
  }
}
