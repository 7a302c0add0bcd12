// What the transcript shows, in the order of the conversation. The first entry that may still change holds up those behind
// it: they stay in the tail until it is finished, so that the scrollback has the order of the conversation.
import type { Line, View } from "#edge/tui/screen/line.ts"
import { cutTo } from "#edge/tui/screen/width.ts"

export type Kind = "answer" | "thought" | "call" | "note" | "user" | "plan"
export type Entry = {
  readonly kind: Kind
  /** Whether its last line is finished. */
  isDone(): boolean
  /** The finished lines since the last call. */
  take(view: View): Line[]
  /** What may still change. */
  tail(view: View): Line[]
}

/** Between these there is no blank line. */
const grouped = new Set<Kind>(["call", "note", "thought"])

export function createEntries() {
  const entries: Entry[] = []
  let last: Kind | undefined
  /** The entry of which a part is printed already. */
  let begun: Entry | undefined

  function take(view: View): Line[] {
    const lines: Line[] = []
    for (;;) {
      const first = entries[0]
      if (!first) return lines
      const finished = first.take(view)
      if (finished.length) {
        if (needsGap(last, first.kind) && first !== begun) lines.push("")
        for (const line of finished) lines.push(line)
        last = first.kind
        begun = first
      }
      if (!first.isDone()) return lines
      entries.shift()
    }
  }

  /** `rows` bounds the lines that running calls take; the last lines of the rest are what a caller shows. */
  function tail(view: View, rows: number): Line[] {
    const lines: Line[] = []
    let before = last
    const calls = entries.filter(({ kind }) => kind === "call")
    const shown = new Set(shownCalls(calls, rows))
    const add = (entry: Entry, some: Line[]) => {
      if (!some.length) return
      if (needsGap(before, entry.kind) && entry !== begun) lines.push("")
      lines.push(...some)
      before = entry.kind
    }
    for (const entry of entries) {
      if (entry.kind !== "call" || shown.has(entry)) add(entry, entry.tail(view))
      if (entry === calls.at(-1) && shown.size < calls.length) {
        const hidden = countHidden(calls.filter((one) => !shown.has(one)))
        add(entry, [view.paint("dim", cutTo(`  ${hidden}`, view.columns))])
      }
    }
    return lines
  }

  return Object.freeze({ add: (entry: Entry) => void entries.push(entry), take, tail })
}

function needsGap(before: Kind | undefined, kind: Kind): boolean {
  return before !== undefined && !(grouped.has(before) && grouped.has(kind))
}

/** The first calls that still run; at most a third of the rows. */
function shownCalls(calls: Entry[], rows: number): Entry[] {
  const most = Math.max(1, Math.floor(rows / 3))
  if (calls.length <= most) return calls
  return calls.filter((call) => !call.isDone()).slice(0, Math.max(1, most - 1))
}

function countHidden(calls: Entry[]): string {
  const done = calls.filter((call) => call.isDone()).length
  const running = calls.length - done
  return [running ? `and ${running} more running` : "", done ? `${done} done` : ""].filter(Boolean).join(", ")
}
