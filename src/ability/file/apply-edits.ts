// Applies the edits of one call, each to the result of the one before. The first that fails throws, and then none
// applies.
import { NamedError } from "#util/error.ts"
import { endAt, findText, lineAt, type Span } from "./find-text.ts"
import { nearestText } from "./nearest-text.ts"
import { formAmong, formsOf, type TextFile, toText } from "./text-file.ts"

export type Edit = { oldText: string; newText: string; replaceAll?: boolean | undefined }

const maxCounted = 1_000
const maxLines = 8

class Ambiguous extends NamedError {
  constructor(options: { which: string; path: string; places: number; lines: number[] }) {
    const { which, path, places, lines } = options
    const count = places >= maxCounted ? `at least ${maxCounted}` : String(places)
    super(
      "Edit.Ambiguous",
      `${which} is in ${JSON.stringify(path)} ${count} times (lines ${lines.join(", ")}${places > lines.length ? ", …" : ""}); nothing was changed. Give more of the text around the one that is meant, or set replaceAll.`,
      { path, places, lines },
    )
  }
}

/** The file after all edits, and the number of replaced places. */
export function applyEdits(file: TextFile, edits: Edit[], path: string): { file: TextFile; places: number } {
  let places = 0
  let now = file
  for (const [i, edit] of edits.entries()) {
    const which = edits.length === 1 ? "oldText" : `oldText of edit ${i + 1} (of ${edits.length})`
    const spans = findAll(now, edit)
    if (spans.length === 0)
      throw new NamedError(
        "Edit.NotFound",
        `${which} was not found in ${JSON.stringify(path)}; nothing was changed. ${nearestText(toText(now, now.raw), edit)}`,
        { path },
      )
    if (spans.length > 1 && !edit.replaceAll)
      throw new Ambiguous({
        which,
        path,
        places: spans.length,
        lines: [...new Set(spans.slice(0, maxLines).map(({ start }) => lineAt(now.raw, start)))],
      })
    now = { ...now, raw: replace(now, spans, edit.newText) }
    places += spans.length
  }
  return { file: now, places }
}

function findAll(file: TextFile, { oldText, replaceAll }: Edit): Span[] {
  const options = replaceAll ? { overlapping: false } : { overlapping: true, max: maxCounted }
  const found = formsOf(file, oldText).map((form) => findText(file.raw, form, options))
  return found.flat().sort((a, b) => a.start - b.start)
}

function replace(file: TextFile, spans: Span[], newText: string): string {
  const { raw } = file
  const hasEnds = newText.includes("\n") && !newText.includes("\r\n")
  const parts: string[] = []
  let done = 0
  for (const span of spans) {
    const text = hasEnds && endAt(raw, span) === "\r\n" ? newText.replaceAll("\n", "\r\n") : newText
    parts.push(raw.slice(done, span.start), formAmong(file, text, linesAround(raw, span)))
    done = span.end
  }
  parts.push(raw.slice(done))
  return parts.join("")
}

function linesAround(raw: string, { start, end }: Span): string {
  const last = raw.indexOf("\n", end)
  return raw.slice(start === 0 ? 0 : raw.lastIndexOf("\n", start - 1) + 1, last < 0 ? raw.length : last)
}
