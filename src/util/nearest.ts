// The known name that a misspelled one most likely means.

/** The candidate with the fewest edits from `word`, if it is near enough to be a misspelling of it. Two letters in the wrong
 * order are the commonest mistake and count as half an edit. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined
  let bestDistance = Math.max(2, Math.floor(word.length / 3)) + 1
  for (const candidate of candidates) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase())
    if (distance < bestDistance && distance < Math.max(word.length, candidate.length)) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

function editDistance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 8) return Number.POSITIVE_INFINITY
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const changed = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swapped = isSwapped ? before[j - 2]! + 0.5 : Number.POSITIVE_INFINITY
      next[j] = Math.min(next[j - 1]! + 1, row[j]! + 1, changed, swapped)
    }
    before = row
    row = next
  }
  return row[b.length]!
}
