// Whether a text with holes could match a pattern with stars. Both are walked in parallel.

/** `pieces` are certain; anything can be between them. */
export function mightFit(pattern: string, pieces: string[]): boolean {
  if (pieces.length === 1 || !startsAlike(pattern, pieces[0]!)) return false
  const want = simplified(pattern)
  const have = simplified(pieces.map((piece) => piece.replaceAll("*", "\u0001")).join("*"))
  if (want.length * have.length > 4_000_000) return true
  return intersect(want.replaceAll("\u0001", "*"), have)
}

/** Fast path: most pairs differ before the first star or hole. */
function startsAlike(pattern: string, start: string): boolean {
  const star = pattern.indexOf("*")
  const length = Math.min(star < 0 ? pattern.length : star, start.length)
  return pattern.slice(0, length) === start.slice(0, length)
}

function simplified(text: string): string {
  return text.replace(/\*+/g, "*")
}

/** Whether some text matches both. Row by row over `have`: the positions in `want` that can be reached. */
function intersect(want: string, have: string): boolean {
  let row = reachByStars(want, new Uint8Array(want.length + 1).fill(1, 0, 1))
  for (const char of have) {
    const next = new Uint8Array(want.length + 1)
    if (char === "*") {
      const first = row.indexOf(1)
      if (first < 0) return false
      next.fill(1, first)
    } else
      for (let i = 0; i < want.length; i++)
        if (row[i] && want[i] === "*") next[i] = 1
        else if (row[i] && want[i] === (char === "\u0001" ? "*" : char)) next[i + 1] = 1
    row = reachByStars(want, next)
  }
  return row[want.length] === 1
}

/** A star may match nothing. */
function reachByStars(want: string, row: Uint8Array): Uint8Array {
  for (let i = 0; i < want.length; i++) if (row[i] && want[i] === "*") row[i + 1] = 1
  return row
}
