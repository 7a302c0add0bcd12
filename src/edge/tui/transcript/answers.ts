// The answers of the model: the text comes in deltas, the whole message when it is stored. Deltas are live: those that were
// sent while the connection was down never come, so the stored message fills the gap.
import type { TextMessage } from "#client/client.ts"
import type { MarkdownOptions } from "#edge/tui/markdown/markdown.ts"
import type { View } from "#edge/tui/screen/line.ts"
import type { Entry } from "./entries.ts"
import type { Folded } from "./fold.ts"
import { createAnswer, createThought, type TextEntry } from "./text-entry.ts"

type Kind = "text" | "reasoning"
type Delta = { messageId: string; kind: Kind; text: string; time: number }
type Open = {
  messageId: string
  /** The text of the answer so far. */
  text: string
  kind?: Kind
  entry?: TextEntry
  /** Deltas may be missing: from here on, only the stored message counts. It is stored about once a second. */
  isBroken: boolean
}
type Options = {
  view(): View
  markdown: MarkdownOptions
  add(entry: Entry): void
  fold(folded: Folded): void
  note(text: string): void
}

export function createAnswers({ view, markdown, add, fold, note }: Options) {
  const complete = new Set<string>()
  let open: Open | undefined

  function addDelta({ messageId, kind, text, time }: Delta): void {
    if (complete.has(messageId)) return
    if (open?.messageId !== messageId) begin(messageId)
    if (open && !open.isBroken) put(open, { kind, text, time })
  }

  function begin(messageId: string, isBroken = false): Open {
    end()
    open = { messageId, text: "", isBroken }
    return open
  }

  function put(on: Open, { kind, text, time }: Omit<Delta, "messageId">): void {
    if (text === "") return
    if (on.kind !== kind) {
      on.entry?.end()
      on.entry = kind === "text" ? createAnswer(view, markdown) : createThought(fold)
      on.kind = kind
      add(on.entry)
    }
    if (kind === "text") on.text += text
    on.entry!.add(text, time)
  }

  /** A message as it was stored, whole or in part. */
  function show({ id, data }: TextMessage): void {
    const { parts, finish } = data
    if (complete.has(id)) return
    if (open?.messageId === id && parts.length === 0 && finish === undefined) withdraw()
    else if (open?.messageId === id) catchUp(open, textOf(parts), finish !== undefined)
    else if (parts.length) {
      const begun = begin(id, true)
      for (const { type, text } of parts) put(begun, { kind: type, text, time: 0 })
    }
    if (finish === undefined) return
    complete.add(id)
    if (open?.messageId === id) end()
  }

  function withdraw(): void {
    if (open?.entry) note("the answer broke off and is requested again")
    end()
  }

  function catchUp(on: Open, whole: string, isWhole: boolean): void {
    if (!(isWhole || on.isBroken) || !whole.startsWith(on.text)) return
    put(on, { kind: "text", text: whole.slice(on.text.length), time: 0 })
  }

  /** Something else follows, or nothing more comes. */
  function end(): void {
    open?.entry?.end()
    open = undefined
  }

  function lose(): void {
    if (open) open.isBroken = true
  }

  return Object.freeze({ addDelta, show, end, lose })
}

function textOf(parts: TextMessage["data"]["parts"]): string {
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("")
}
