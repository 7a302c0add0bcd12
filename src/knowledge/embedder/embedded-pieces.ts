// Cuts a text into the pieces that the embedded model knows: runs of letters and digits, identifiers at their capitals,
// and a word that is not a piece itself into the pieces that are likeliest together.

const runs = /[A-Za-z]+(?:[0-9](?![0-9]))?|[0-9]+/g
const plain = /^(?:[A-Za-z][a-z0-9]*|[A-Z0-9]+)$/
const humps = /[A-Z]+(?![a-z])[0-9]?|[A-Z]?[a-z]+[0-9]?/g
const digits = /^[0-9]/
const longestPiece = 18

/** Row 0 stands for "unknown" and is never given. */
export function createPieces(names: readonly string[], scores: Float32Array): (text: string) => number[] {
  const rowOf = new Map<string, number>()
  for (let row = 1; row < names.length; row++) rowOf.set(names[row]!, row)

  function piecesOf(text: string): number[] {
    const found: number[] = []
    for (const run of toAscii(text).match(runs) ?? []) for (const word of wordsOf(run)) add(word, found)
    return found
  }

  function wordsOf(run: string): string[] {
    if (digits.test(run)) return [run.slice(0, 4)]
    const lower = run.toLowerCase()
    if (plain.test(run) || (lower.length > 3 && rowOf.has(lower))) return [lower]
    return (run.match(humps) ?? []).map((part) => part.toLowerCase())
  }

  function add(word: string, found: number[]): void {
    const row = rowOf.get(word)
    if (row !== undefined) found.push(row)
    else segment(word, found)
  }

  /** Viterbi: for every end the best sum of scores that reaches it, and the piece that ends there. */
  function segment(word: string, found: number[]): void {
    const best = new Float64Array(word.length + 1).fill(Number.NEGATIVE_INFINITY)
    const from = new Int32Array(word.length + 1)
    const rows = new Int32Array(word.length + 1)
    best[0] = 0
    for (let end = 1; end <= word.length; end++) {
      for (let start = Math.max(0, end - longestPiece); start < end; start++) {
        const row = rowOf.get(word.slice(start, end))
        if (row === undefined) continue
        const score = best[start]! + scores[row]!
        if (score <= best[end]!) continue
        best[end] = score
        from[end] = start
        rows[end] = row
      }
    }
    if (best[word.length] === Number.NEGATIVE_INFINITY) return
    const cut: number[] = []
    for (let end = word.length; end > 0; end = from[end]!) cut.push(rows[end]!)
    found.push(...cut.reverse())
  }

  return piecesOf
}

/** Accents go, so that "café" is "cafe"; other scripts give no pieces. */
function toAscii(text: string): string {
  return /[^\0-\x7f]/.test(text) ? text.normalize("NFKD").replace(/\p{M}+/gu, "") : text
}
