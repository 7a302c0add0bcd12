// Finds the known secrets in a text: as they are, in URL encoding, and those of `encoded` also in base64 and hex, wrapped at any
// width. Of a long one that is encoded, a part on a line of its own is found too.
import { type AcceptPart, createIndex, type Index, window } from "./text-index.ts"
import { asBase64, asHex, type View, withoutPercent } from "./views.ts"

type Span = { start: number; end: number; label: string }
export type Found = {
  /** In order; none overlaps another. */
  spans: Span[]
  /** The offset from which the end of the text may be the start of a secret; the length of the text if it is not. */
  open: number
}
type Asked = {
  /** Whether more text follows. Otherwise `open` is the length of the text. */
  hasMore?: boolean
  /** Labels of secrets that are not looked for. */
  shown?: ReadonlySet<string> | undefined
}
export type Finder = (text: string, asked?: Asked) => Found
type Labelled = Index & { labels: readonly string[] }
/** `read` is a reading of the text through `views`, the last one first. */
type Search = {
  index: Labelled
  read: string
  views: View[]
  asked: Asked
  isAtEnd?: boolean
  found: Found
}

/** Characters of a part: 16 bytes in hex, 18 in base64, as lines have them. The last line may be shorter. */
const [hexPart, base64Part, lastPart] = [32, 24, 12]
/** A part with fewer different characters is padding, such as blanks. */
const minVariety = 5

/** Both maps lead to the label that replaces a secret: `plain` from the exact text, `encoded` from the value. */
export function createFinder(
  plain: ReadonlyMap<string, string>,
  encoded: ReadonlyMap<string, string>,
): Finder {
  const exact = labelled(plain, (value) => [value])
  const base64 = labelled(encoded, base64Forms, acceptPart(base64Part))
  const hex = labelled(encoded, (value) => [core(value).toString("hex")], acceptPart(hexPart))

  function find(text: string, asked: Asked = {}): Found {
    const found: Found = { spans: [], open: text.length }
    if (exact.labels.length === 0) return found
    const decoded = withoutPercent(text)
    for (const views of decoded ? [[], [decoded]] : [[]]) {
      const read = views[0]?.text ?? text
      collect({ index: exact, read, views, asked, found })
      if (encoded.size === 0) continue
      for (const [index, view] of [
        [base64, asBase64(read)],
        [hex, asHex(read)],
      ] as const) {
        const isAtEnd = view.ends[view.text.length - 1] === read.length
        collect({ index, read: view.text, views: [view, ...views], asked, isAtEnd, found })
      }
    }
    const spans = joined(found.spans)
    // A secret that starts inside another one is redacted with it.
    const outer = spans.find(({ start, end }) => start < found.open && found.open < end)
    return { spans, open: outer ? outer.end + find(text.slice(outer.end), asked).open : found.open }
  }

  return find
}

function labelled(
  values: ReadonlyMap<string, string>,
  formsOf: (value: string) => string[],
  accepts?: AcceptPart,
): Labelled {
  const forms = [...values].flatMap(([value, label]) => formsOf(value).map((form) => ({ form, label })))
  const index = createIndex(
    forms.map(({ form }) => form),
    accepts,
  )
  return { ...index, labels: forms.map(({ label }) => label) }
}

/** A key without the first and last line of its file, which all keys share. */
function core(value: string): Buffer {
  const inner = value.replace(/^-----[^\n]*\n/, "").replace(/\n-----[^\n]*\s*$/, "")
  return Buffer.from(inner.length < window ? value : inner)
}

/** The characters that depend on the value alone, if it begins 0, 1 or 2 bytes after a multiple of three. */
function base64Forms(value: string): string[] {
  const bytes = core(value)
  return [0, 1, 2].map((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString("base64")
      .replace(/=+$/, "")
    const rest = (offset + bytes.length) % 3
    return text.slice(offset === 0 ? 0 : offset + 1, rest === 0 ? undefined : -1)
  })
}

function acceptPart(length: number): AcceptPart {
  return (text, from, to) => {
    const isLast = to === text.length
    if (from === 0 && isLast) return true
    if (to - from < (isLast ? lastPart : length)) return false
    return new Set(text.slice(from, Math.min(to, from + 2 * length))).size >= minVariety
  }
}

function collect(search: Search): void {
  const { index, read, views, asked, found } = search
  const startOf = (at: number) => views.reduce((place, { starts }) => starts[place]!, at)
  const endOf = (at: number) => views.reduce((place, { ends }) => ends[place - 1]!, at)
  const { hits, open } = index.scan(read)
  for (const { start, end, item } of hits) {
    const label = index.labels[item]!
    if (!asked.shown?.has(label)) found.spans.push({ start: startOf(start), end: endOf(end), label })
  }
  if (!asked.hasMore) return
  const from = Math.min(open, shortStart(search))
  if (from < read.length) found.open = Math.min(found.open, startOf(from))
}

/** Where the last few characters may be the start of a secret. A separator after them rules it out: otherwise
 * every line that ends with a digit would be held back. */
function shortStart({ index, read, isAtEnd = true }: Search): number {
  if (isAtEnd)
    for (let at = Math.max(0, read.length - window + 1); at < read.length; at++)
      if (index.isStart(read.slice(at))) return at
  return read.length
}

/** Merges spans that overlap. The label is that of the first span; of spans with the same start, that of the longest. */
function joined(spans: Span[]): Span[] {
  const all: Span[] = []
  for (const span of spans.sort((a, b) => a.start - b.start || b.end - a.end)) {
    const last = all.at(-1)
    if (last && span.start < last.end) last.end = Math.max(last.end, span.end)
    else all.push(span)
  }
  return all
}
