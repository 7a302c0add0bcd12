// A short unified diff of two texts for people. If the shortest diff would take long to find, the changed part is
// shown as one block.
import * as Secret from "#kernel/secret/secret.ts"

export type LineDiff = { additions: number; deletions: number; diff: string }
type Options = {
  /** Formats a line. */
  show?: (line: string) => string
  /** Show every changed line whole, however long the diff becomes. */
  isWhole?: boolean
}
type Op = { sign: " " | "+" | "-"; line: string }

const around = 3
const maxLines = 50_000
const maxSteps = 1_000
const maxChars = 6_000
const maxWidth = 300

export function lineDiff(before: string, after: string, options: Options = {}): LineDiff {
  if (before === after) return { additions: 0, deletions: 0, diff: "" }
  const { start, endBefore, endAfter } = changedPart(before, after)
  const lead = linesOf(before.slice(linesBefore(before, start), start))
  const tail = linesOf(before.slice(endBefore), around)
  const changes = compare(linesOf(before.slice(start, endBefore)), linesOf(after.slice(start, endAfter)))
  const same = (line: string): Op => ({ sign: " ", line })
  const ops = [...lead.map(same), ...changes, ...tail.map(same)]
  const first = countLines(before, start) - lead.length + 1
  const count = (sign: Op["sign"]) => changes.filter((op) => op.sign === sign).length
  return { additions: count("+"), deletions: count("-"), diff: draw(ops, first, options) }
}

/** A change as removed and added lines, for the person who decides about it. */
export function changeLines(removed: string, added: string): string {
  return [...marked("- ", removed), ...marked("+ ", added)].join("\n")
}

/** The changed part, in whole lines; everything before and after it is the same. */
function changedPart(before: string, after: string): { start: number; endBefore: number; endAfter: number } {
  const shorter = Math.min(before.length, after.length)
  const alike = sameFrom(shorter, (at, to) => before.slice(at, to) === after.slice(at, to))
  const start = alike === 0 ? 0 : before.lastIndexOf("\n", alike - 1) + 1
  const fromEnd = (text: string, at: number, to: number) => text.slice(text.length - to, text.length - at)
  let same = sameFrom(shorter - start, (at, to) => fromEnd(before, at, to) === fromEnd(after, at, to))
  const begins = (text: string) => text.length - same === start || text[text.length - same - 1] === "\n"
  if (!begins(before) || !begins(after)) {
    const next = before.indexOf("\n", before.length - same)
    same = next < 0 ? 0 : before.length - next - 1
  }
  return { start, endBefore: before.length - same, endAfter: after.length - same }
}

/** The length of the common part, found in blocks that get smaller. */
function sameFrom(room: number, isSame: (at: number, to: number) => boolean): number {
  let at = 0
  for (let block = 1 << 16; block >= 1; block >>= 4)
    while (at + block <= room && isSame(at, at + block)) at += block
  return at
}

/** Lines with their ends, so that a changed line end is a change. */
function linesOf(text: string, max = Number.POSITIVE_INFINITY): string[] {
  const lines: string[] = []
  for (let at = 0; at < text.length && lines.length < max; ) {
    const end = text.indexOf("\n", at) + 1 || text.length
    lines.push(text.slice(at, end))
    at = end
  }
  return lines
}

/** Where the context before a line begins. */
function linesBefore(text: string, start: number): number {
  let at = start
  for (let n = 0; n < around && at > 0; n++) at = at === 1 ? 0 : text.lastIndexOf("\n", at - 2) + 1
  return at
}

function countLines(text: string, end: number): number {
  let lines = 0
  for (let at = text.indexOf("\n"); at >= 0 && at < end; at = text.indexOf("\n", at + 1)) lines++
  return lines
}

function compare(a: string[], b: string[]): Op[] {
  const trace = a.length + b.length > maxLines ? undefined : shortest(a, b)
  if (!trace)
    return [...a.map((line): Op => ({ sign: "-", line })), ...b.map((line): Op => ({ sign: "+", line }))]
  return walkBack(a, b, trace)
}

/** Myers: how far each diagonal gets with 0, 1, 2, … changes. */
function shortest(a: string[], b: string[]): Int32Array[] | undefined {
  const trace: Int32Array[] = []
  const limit = Math.min(a.length + b.length, maxSteps)
  let far = new Int32Array(3)
  for (let d = 0; d <= limit; d++) {
    const next = new Int32Array(2 * d + 3)
    for (let k = -d; k <= d; k += 2) {
      // The middle of `far` is at d, that of `next` at d + 1.
      const [left, right] = [far[d + k - 1]!, far[d + k + 1]!]
      let x = d === 0 ? 0 : k === -d || (k !== d && left < right) ? right : left + 1
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++
      next[d + 1 + k] = x
      if (x >= a.length && x - k >= b.length) {
        trace.push(next)
        return trace
      }
    }
    trace.push(next)
    far = next
  }
  return undefined
}

function walkBack(a: string[], b: string[], trace: Int32Array[]): Op[] {
  const ops: Op[] = []
  let [x, y] = [a.length, b.length]
  for (let d = trace.length - 1; d > 0; d--) {
    const far = trace[d - 1]!
    const at = (k: number) => far[d + k]!
    const k = x - y
    const down = k === -d || (k !== d && at(k - 1) < at(k + 1))
    const from = down ? at(k + 1) : at(k - 1)
    const fromY = from - (down ? k + 1 : k - 1)
    while (x > from + (down ? 0 : 1) && y > fromY + (down ? 1 : 0)) {
      ops.push({ sign: " ", line: a[--x]! })
      y--
    }
    if (down) ops.push({ sign: "+", line: b[--y]! })
    else ops.push({ sign: "-", line: a[--x]! })
  }
  while (x > 0) ops.push({ sign: " ", line: a[--x]! })
  return ops.reverse()
}

/** Hunks with a few lines of context, up to a length limit. */
function draw(ops: Op[], first: number, options: Options): string {
  const near = new Uint8Array(ops.length)
  for (const [i, { sign }] of ops.entries())
    if (sign !== " ") near.fill(1, Math.max(0, i - around), i + around + 1)
  let [diff, oldLine, newLine] = ["", first, first]
  for (let i = 0; i < ops.length; ) {
    let end = i
    while (end < ops.length && near[end] === near[i]) end++
    const part = ops.slice(i, end)
    const [before, after] = ["-", "+"].map(
      (sign) => part.filter((op) => op.sign === " " || op.sign === sign).length,
    )
    if (near[i]) {
      diff += `@@ -${oldLine},${before} +${newLine},${after} @@\n${drawLines(part, options)}`
      if (diff.length > maxChars && !options.isWhole)
        return `${diff.slice(0, diff.lastIndexOf("\n", maxChars) + 1)}[the diff is longer]\n`
    }
    oldLine += before!
    newLine += after!
    i = end
  }
  return diff
}

function drawLines(ops: Op[], { show = (line) => line, isWhole = false }: Options): string {
  // More lines never fit into the limit.
  const shown = isWhole ? ops : ops.slice(0, maxChars)
  return shown
    .map(({ sign, line }) => {
      const text = show((isWhole ? line : Secret.cut(line, 4 * maxWidth)).replace(/\r?\n$/, ""))
      const cut = text.length > maxWidth && !isWhole ? `${Secret.cut(text, maxWidth)}…` : text
      return `${sign}${cut}\n${line.endsWith("\n") ? "" : "\\ No newline at end of file\n"}`
    })
    .join("")
}

function marked(mark: string, text: string): string[] {
  if (text === "") return []
  return text
    .replace(/\r?\n$/, "")
    .split(/\r?\n/)
    .map((line) => mark + line)
}
