// The words that differ between a removed line and the line that took its place.

/** A piece of a line, and whether the other line lacks it. */
export type Piece = { text: string; isChanged: boolean }

/** Comparing more words takes too long for what it shows. */
const maxWords = 300
/** With less in common, two lines are not versions of one line. */
const leastCommon = 0.3

/** Undefined if the lines have too little in common. */
export function diffWords(before: string, after: string): { before: Piece[]; after: Piece[] } | undefined {
  const [a, b] = [wordsOf(before), wordsOf(after)]
  if (a.length > maxWords || b.length > maxWords) return undefined
  const same = commonOf(a, b)
  const letters = same.reduce((sum, [i]) => sum + a[i]!.trim().length, 0)
  const all = Math.max(before.replace(/\s/g, "").length, after.replace(/\s/g, "").length)
  if (letters === 0 || letters < all * leastCommon) return undefined
  const kept = [new Set(same.map(([i]) => i)), new Set(same.map(([, j]) => j))] as const
  return { before: piecesOf(a, kept[0]), after: piecesOf(b, kept[1]) }
}

function wordsOf(line: string): string[] {
  return line.match(/[\p{L}\p{N}_]+|\s+|./gsu) ?? []
}

/** The longest common subsequence, as pairs of indexes. */
function commonOf(a: string[], b: string[]): [number, number][] {
  const width = b.length + 1
  const table = new Uint16Array((a.length + 1) * width)
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      table[i * width + j] =
        a[i] === b[j]
          ? table[(i + 1) * width + j + 1]! + 1
          : Math.max(table[(i + 1) * width + j]!, table[i * width + j + 1]!)
  const pairs: [number, number][] = []
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) pairs.push([i++, j++])
    else if (table[(i + 1) * width + j]! >= table[i * width + j + 1]!) i++
    else j++
  }
  return pairs
}

/** Blanks between two changed words are changed too: one mark reads better than three. */
function piecesOf(words: string[], kept: ReadonlySet<number>): Piece[] {
  const pieces: Piece[] = []
  for (const [i, text] of words.entries()) {
    const isBetween =
      text.trim() === "" && i > 0 && !kept.has(i - 1) && i + 1 < words.length && !kept.has(i + 1)
    const isChanged = !kept.has(i) || isBetween
    const last = pieces.at(-1)
    if (last?.isChanged === isChanged) last.text += text
    else pieces.push({ text, isChanged })
  }
  return pieces
}
