// Splits a Markdown text into chunks for search and for the model. It splits at headings; long sections also between
// paragraphs or lines, and long lines anywhere. Only blank lines between chunks are left out.

export type Chunk = {
  /** The headings that it is below, the outermost first: "Deploying > Going back". */
  heading: string
  /** Its first line, from 1. */
  line: number
  /** Its last line. */
  endLine: number
  text: string
}

export type Line = { text: string; number: number }

const usualChars = 1_600
/** A shorter section is joined with the next one below it. */
const fewChars = 200

export function chunkMarkdown(text: string, maxChars = usualChars): Chunk[] {
  return chunkLines(
    text.split("\n").map((line, i) => ({ text: line, number: i + 1 })),
    maxChars,
  )
}

/** The same for lines with numbers of their own: several may have one number. */
export function chunkLines(given: readonly Line[], maxChars = usualChars): Chunk[] {
  const chunks: Chunk[] = []
  for (const { heading, lines } of sectionsOf(given)) {
    for (const piece of piecesOf(lines, maxChars)) {
      const words = piece.map((line) => line.text).join("\n")
      const chunk = {
        heading,
        line: piece[0]!.number,
        endLine: piece.findLast(({ text }) => text.trim())!.number,
        text: words.trimEnd(),
      }
      const last = chunks.at(-1)
      const isSmall = last && last.text.length < fewChars && last.text.length + words.length < maxChars
      if (isSmall && heading.startsWith(last.heading)) {
        last.text += `\n\n${chunk.text}`
        last.heading = heading
        last.endLine = chunk.endLine
      } else chunks.push(chunk)
    }
  }
  return chunks
}

/** Lines below the same heading. A "#" in a fenced block is no heading. */
function sectionsOf(given: readonly Line[]): { heading: string; lines: Line[] }[] {
  const above: string[] = []
  const sections: { heading: string; lines: Line[] }[] = [{ heading: "", lines: [] }]
  let fence: string | undefined
  for (const { text: line, number } of given) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1]
    if (mark && !fence) fence = mark
    else if (mark && fence && mark[0] === fence[0] && mark.length >= fence.length) fence = undefined
    const [, level, title] = (!fence && /^ {0,3}(#{1,6})[ \t]+(.*?)[ \t#]*$/.exec(line)) || []
    if (level && title) {
      above.length = Math.min(above.length, level.length - 1)
      above[level.length - 1] = title.slice(0, 200)
      sections.push({ heading: above.filter(Boolean).join(" > "), lines: [] })
    }
    sections.at(-1)!.lines.push({ text: line, number })
  }
  return sections
}

function* piecesOf(lines: Line[], maxChars: number): Generator<Line[]> {
  let piece: Line[] = []
  let length = 0
  for (const line of lines.flatMap((one) => narrow(one, maxChars))) {
    const isBlank = !line.text.trim()
    if (!piece.length && isBlank) continue
    // Split between paragraphs once a piece is half full, and between lines only if the piece would be too long.
    if (length + line.text.length > maxChars || (isBlank && length > maxChars / 2)) {
      yield piece
      piece = []
      length = 0
      if (isBlank) continue
    }
    piece.push(line)
    length += line.text.length + 1
  }
  if (piece.length) yield piece
}

function narrow(line: Line, maxChars: number): Line[] {
  if (line.text.length < maxChars) return [line]
  const parts: Line[] = []
  for (let at = 0; at < line.text.length; ) {
    let end = at + maxChars - 1
    // Do not split a surrogate pair.
    if (/[\ud800-\udbff]/.test(line.text[end - 1] ?? "")) end++
    parts.push({ text: line.text.slice(at, end), number: line.number })
    at = end
  }
  return parts
}
