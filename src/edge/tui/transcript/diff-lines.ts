// A unified diff with line numbers and the changed words marked. Numbers are those of the old file for removed lines, else
// of the new one.

import { diffWords, type Piece } from "#client/diff-words.ts"
import type { Line, Paint, View } from "#edge/tui/screen/line.ts"
import { safe } from "#edge/tui/screen/safe.ts"
import { cutTo, wrapTo } from "#edge/tui/screen/width.ts"

type Sign = "+" | "-" | " "
type Row = { sign: Sign; number: number; text: string; pieces?: Piece[] } | { note: string }

const hunkStart = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/

export function diffLines(diff: string, { columns, paint }: View): Line[] {
  const rows = rowsOf(diff)
  markWords(rows)
  const digits = String(Math.max(0, ...rows.map((row) => ("number" in row ? row.number : 0)))).length
  return rows.flatMap((row) => {
    if (!("number" in row)) return [paint("dim", cutTo(`${" ".repeat(digits)} ${row.note}`, columns))]
    const head = `${String(row.number).padStart(digits)} ${row.sign} `
    const text = head + paintRow(row, paint)
    return wrapTo(
      row.sign === " " ? paint("dim", text) : paint(row.sign === "+" ? "added" : "removed", text),
      columns,
      digits + 3,
    )
  })
}

/** Removed and added lines without a hunk are numbered from 1. */
function rowsOf(diff: string): Row[] {
  const rows: Row[] = []
  let [before, after] = [1, 1]
  for (const line of safe(diff).replace(/\n$/, "").split("\n")) {
    const hunk = hunkStart.exec(line)
    if (hunk) {
      ;[before, after] = [Number(hunk[1]), Number(hunk[3])]
      if (rows.length) rows.push({ note: "⋮" })
    } else if (/^[-+ ]/.test(line)) {
      const sign = line[0] as Sign
      rows.push({ sign, number: sign === "-" ? before : after, text: line.slice(1) })
      if (sign !== "+") before++
      if (sign !== "-") after++
    } else if (line !== "") rows.push({ note: line })
  }
  return rows
}

/** Pairs the lines of each run of removed lines with those of the added ones right behind it. */
function markWords(rows: Row[]): void {
  for (let at = 0; at < rows.length; ) {
    const removed = runFrom(rows, at, "-")
    const added = runFrom(rows, at + removed.length, "+")
    for (const [i, row] of removed.entries()) {
      const other = added[i]
      const words = other && diffWords(row.text, other.text)
      if (!other || !words) continue
      row.pieces = words.before
      other.pieces = words.after
    }
    at += Math.max(1, removed.length + added.length)
  }
}

function runFrom(rows: Row[], from: number, sign: Sign) {
  const run: Extract<Row, { sign: Sign }>[] = []
  for (let i = from; i < rows.length; i++) {
    const row = rows[i]!
    if (!("sign" in row) || row.sign !== sign) break
    run.push(row)
  }
  return run
}

function paintRow({ sign, text, pieces }: Extract<Row, { sign: Sign }>, paint: Paint): string {
  if (!pieces) return text
  const role = sign === "+" ? "addedWord" : "removedWord"
  return pieces.map((piece) => (piece.isChanged ? paint(role, piece.text) : piece.text)).join("")
}
