// Finds a text in a file. A line end matches LF and CRLF: `read` shows both alike, so the model cannot know which it
// is.

export type Span = { start: number; end: number }

/** From left to right, at most `max`. Overlapping places count as two, unless all are to be replaced. */
export function findText(raw: string, text: string, options: { overlapping: boolean; max?: number }): Span[] {
  const { overlapping, max = Number.POSITIVE_INFINITY } = options
  const anyEnd = text.includes("\n") && !text.includes("\r\n") && raw.includes("\r\n")
  const next = anyEnd ? createLineSearch(raw, text) : (from: number) => plainSearch(raw, text, from)
  const spans: Span[] = []
  for (let span = next(0); span && spans.length < max; span = next(overlapping ? span.start + 1 : span.end))
    spans.push(span)
  return spans
}

/** The number of the line in which a place is. */
export function lineAt(raw: string, at: number): number {
  let line = 1
  for (let end = raw.indexOf("\n"); end >= 0 && end < at; end = raw.indexOf("\n", end + 1)) line++
  return line
}

/** The line end for inserted text: that of the place, or the nearest one. */
export function endAt(raw: string, { start, end }: Span): "\n" | "\r\n" {
  let at = raw.indexOf("\n", start)
  if (at < 0 || at >= end) at = raw.indexOf("\n", end)
  if (at < 0) at = raw.lastIndexOf("\n", start)
  return at > 0 && raw[at - 1] === "\r" ? "\r\n" : "\n"
}

function plainSearch(raw: string, text: string, from: number): Span | undefined {
  const start = raw.indexOf(text, from)
  return start < 0 ? undefined : { start, end: start + text.length }
}

/** Finds the first line of the text, then checks the lines after it. */
function createLineSearch(raw: string, text: string): (from: number) => Span | undefined {
  const [first, ...others] = text.split("\n") as [string, ...string[]]
  return (from) => {
    for (let at = raw.indexOf(first || "\n", from); at >= 0; at = raw.indexOf(first || "\n", at + 1)) {
      const start = first === "" && raw[at - 1] === "\r" ? at - 1 : at
      const end = start < from ? undefined : endOf(raw, start + first.length, others)
      if (end !== undefined) return { start, end }
    }
    return undefined
  }
}

function endOf(raw: string, from: number, others: string[]): number | undefined {
  let at = from
  for (const line of others) {
    if (raw.startsWith("\r\n", at)) at += 2
    else if (raw[at] === "\n") at++
    else return undefined
    if (!raw.startsWith(line, at)) return undefined
    at += line.length
  }
  return at
}
