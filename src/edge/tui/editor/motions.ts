// Where keys move the caret. Deleting uses the same places.
import { type Document, endOf, type Place, type Unit } from "./document.ts"

type Kind = "word" | "blank" | "other"

export function left({ lines, caret: { line, at } }: Document): Place {
  if (at > 0) return { line, at: at - 1 }
  return line > 0 ? { line: line - 1, at: lines[line - 1]!.length } : { line, at }
}

export function right({ lines, caret: { line, at } }: Document): Place {
  if (at < lines[line]!.length) return { line, at: at + 1 }
  return line + 1 < lines.length ? { line: line + 1, at: 0 } : { line, at }
}

export function wordLeft(document: Document): Place {
  return back(document, (kind) => kind === "word")
}

/** Back to a blank, as Ctrl-W does in shells. */
export function blankWordLeft(document: Document): Place {
  return back(document, (kind) => kind !== "blank")
}

export function wordRight(document: Document): Place {
  const { lines, caret } = document
  const units = lines[caret.line]!
  if (caret.at === units.length) return right(document)
  let { at } = caret
  while (at < units.length && kindOf(units[at]!) !== "word") at++
  while (at < units.length && kindOf(units[at]!) === "word") at++
  return { line: caret.line, at }
}

export function lineStart({ caret: { line } }: Document): Place {
  return { line, at: 0 }
}

export function lineEnd({ lines, caret: { line } }: Document): Place {
  return { line, at: lines[line]!.length }
}

/** Deleting at the start of a line joins it with the line before. */
export function lineStartOrLeft(document: Document): Place {
  return document.caret.at === 0 ? left(document) : lineStart(document)
}

export function lineEndOrRight(document: Document): Place {
  const end = lineEnd(document)
  return document.caret.at === end.at ? right(document) : end
}

export function textStart(): Place {
  return { line: 0, at: 0 }
}

export function textEnd({ lines }: Document): Place {
  return endOf(lines)
}

export function kindOf(unit: Unit): Kind {
  if (typeof unit !== "string") return "word"
  if (/^\s/u.test(unit)) return "blank"
  return /^[\p{L}\p{N}_]/u.test(unit) ? "word" : "other"
}

function back(document: Document, isWord: (kind: Kind) => boolean): Place {
  const { lines, caret } = document
  const units = lines[caret.line]!
  if (caret.at === 0) return left(document)
  let { at } = caret
  while (at > 0 && !isWord(kindOf(units[at - 1]!))) at--
  while (at > 0 && isWord(kindOf(units[at - 1]!))) at--
  return { line: caret.line, at }
}
