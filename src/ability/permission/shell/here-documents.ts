// Where here-documents begin and end. In unusual places bash and our parser disagree about that, and then text for
// one is a command for the other.
import type { SyntaxNode } from "unbash"

export type HereDocument = Extract<SyntaxNode, { type: "HereDoc" }>

/** Delimiter words, with their quotes, that have only one reading. */
const plainEnd = /^\\?[\w.:@%+-]+$|^(["'])[\w .:@%+-]+\1$/

/**
 * Whether each begins on the line after the one that it is named in, or where the one before it ends, and is ended by its
 * word. A substitution that is closed before that, or a line that goes on in quotes, makes the two disagree.
 */
export function areFound(line: string, documents: HereDocument[]): boolean {
  let last = { lineEnd: -1, next: -1 }
  for (const { end, body, closing, delimiter } of documents.toSorted((a, b) => a.pos - b.pos)) {
    const lineEnd = line.indexOf("\n", end)
    if (!delimiter || !closing || !plainEnd.test(delimiter.text)) return false
    if (lineEnd < 0 || line.slice(closing.pos, closing.end) !== delimiter.value) return false
    if (body.pos !== (lineEnd === last.lineEnd ? last.next : lineEnd + 1)) return false
    last = { lineEnd, next: closing.end + 1 }
  }
  return true
}
