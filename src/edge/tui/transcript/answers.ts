// The answers of the model: the text comes in deltas, the whole message when it is stored. Deltas are live: those that were
// sent before the session was opened or while the connection was down never come, so the stored message fills the gap.
import type { TextMessage } from "#client/client.ts"
import type { MarkdownOptions } from "#edge/tui/markdown/markdown.ts"
import type { View } from "#edge/tui/screen/line.ts"
import type { Entry } from "./entries.ts"
import type { Folded } from "./fold.ts"
import { maxAnswer } from "./loaded-messages.ts"
import { createAnswer, createThought, type TextEntry } from "./text-entry.ts"

type Parts = TextMessage["data"]["parts"]
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
  /** The text that is shown of answers that were ended before they were complete. */
  const begun = new Map<string, string>()
  let open: Open | undefined
  /** The next answer may have begun before its first delta. */
  let isUnsure = false

  function addDelta({ messageId, kind, text, time }: Delta): void {
    if (complete.has(messageId)) return
    const on = open?.messageId === messageId ? open : begin(messageId, isUnsure)
    isUnsure = false
    if (!on.isBroken) put(on, { kind, text, time })
  }

  function begin(messageId: string, isBroken: boolean): Open {
    end()
    const text = begun.get(messageId)
    open = { messageId, text: text ?? "", isBroken: isBroken || text !== undefined }
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
    if (open?.messageId === id && parts.length === 0 && finish === undefined) withdraw(id)
    else if (parts.length) {
      const on = open?.messageId === id ? open : begin(id, true)
      if (on.isBroken || finish !== undefined) catchUp(on, parts)
    }
    if (finish === undefined) return
    complete.add(id)
    if (open?.messageId === id) end()
    begun.delete(id)
  }

  function withdraw(id: string): void {
    if (open?.entry) note("the answer broke off and is requested again")
    end()
    begun.delete(id)
  }

  function catchUp(on: Open, parts: Parts): void {
    const whole = textOf(parts)
    if (on.kind === undefined && on.text === "") putAll(on, parts)
    else if (whole.startsWith(on.text)) putText(on, whole.slice(on.text.length))
    else if (!on.text.startsWith(whole)) {
      noteIn(on, "parts of the answer were missed; here it is again")
      on.text = ""
      putText(on, whole)
    }
  }

  function putAll(on: Open, parts: Parts): void {
    for (const { type, text } of parts)
      if (type === "text") putText(on, text)
      else put(on, { kind: type, text, time: 0 })
  }

  function putText(on: Open, text: string): void {
    const from = text.length > maxAnswer ? text.indexOf("\n", text.length - maxAnswer) + 1 : 0
    if (from) noteIn(on, `${from} characters of the answer are not shown; /export writes the whole session`)
    on.text += text.slice(0, from)
    put(on, { kind: "text", text: text.slice(from), time: 0 })
  }

  function noteIn(on: Open, text: string): void {
    on.entry?.end()
    delete on.kind
    note(text)
  }

  /** Something else follows, or nothing more comes. */
  function end(): void {
    open?.entry?.end()
    if (open?.text) begun.set(open.messageId, open.text)
    open = undefined
  }

  function lose(): void {
    isUnsure = true
    if (open) open.isBroken = true
  }

  return Object.freeze({ addDelta, show, end, lose })
}

function textOf(parts: Parts): string {
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("")
}
