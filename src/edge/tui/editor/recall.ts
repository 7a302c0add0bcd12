// Going back and forth through earlier prompts. What was being written is kept, and so are changes to earlier prompts until
// one is sent.
import { type Document, documentOf } from "./document.ts"

/** Earlier prompts, the oldest first. The entries may grow, and may be read late. */
export type History = { readonly entries: readonly string[]; add(text: string): void }

export function createRecall(history: History) {
  let entries: string[] = []
  /** 0 is the prompt that is being written, 1 the last one that was sent. */
  let distance = 0
  const changed = new Map<number, Document>()

  return Object.freeze({ go, end })

  /** The prompt `step` further back, or undefined at the end. */
  function go(step: 1 | -1, current: Document): Document | undefined {
    if (distance === 0) entries = withoutRepeats(history.entries)
    const next = distance + step
    if (next < 0 || next > entries.length) return undefined
    changed.set(distance, current)
    distance = next
    return changed.get(next) ?? documentOf(entries.at(-next)!)
  }

  function end(): void {
    distance = 0
    changed.clear()
  }
}

function withoutRepeats(entries: readonly string[]): string[] {
  return entries.filter((entry, at) => entry !== entries[at + 1])
}
