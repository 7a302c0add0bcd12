// Finds many texts in another one, in time that grows with the length of that one alone. The texts are indexed by windows of
// eight characters. A table of four characters says how far the search may skip, so that few texts cost almost nothing.

/** The text `item` was found from `start` to `end`: all of it, or as much as the index accepts. */
type Hit = { start: number; end: number; item: number }
type Scan = {
  hits: Hit[]
  /** The offset from which the end of the text may be the start of a hit; its length if it is not. */
  open: number
}
/** Whether the characters `from` to `to` of a text are enough. */
export type AcceptPart = (text: string, from: number, to: number) => boolean
export type Index = Readonly<{ scan(text: string): Scan; isStart(text: string): boolean }>

/** No text is shorter. */
export const window = 8
const half = window / 2
/** The distance of two windows of a text: every part of 23 characters has a whole one. */
const step = 2 * window
/** A text that repeats itself has the same window many times. */
const maxSame = 4
/** Up to this number, searching for one text after the other is faster. */
const few = 20

/** With `accepts`, parts of a text are found too, each as long as possible. */
export function createIndex(texts: readonly string[], accepts?: AcceptPart): Index {
  let starts: Set<string> | undefined
  /** Whether a text starts with this, which is shorter than a window. */
  const isStart = (start: string): boolean => {
    starts ??= new Set(
      texts.flatMap((text) => Array.from({ length: window - 1 }, (_, i) => text.slice(0, i + 1))),
    )
    return starts.has(start)
  }
  if (!accepts && texts.length <= few) return Object.freeze({ scan: (text) => scanFew(texts, text), isStart })
  const countOf = ({ length }: string) => (accepts ? Math.ceil((length - window) / step) + 1 : 1)
  const count = texts.reduce((sum, text) => sum + countOf(text), 0)
  const mask = 2 ** Math.ceil(Math.log2(Math.max(1_024, count * 4))) - 1
  const skips = new Uint8Array(mask + 1).fill(half + 1)
  const heads = new Int32Array(mask + 1).fill(-1)
  const [items, offsets, next] = [new Int32Array(count), new Int32Array(count), new Int32Array(count)]
  let size = 0
  for (const [item, text] of texts.entries())
    for (let n = 0; n < countOf(text); n++) add(item, Math.min(n * step, text.length - window))

  function add(item: number, offset: number): void {
    const text = texts[item]!
    const slot = hash(text, offset) & mask
    if (offset > 0 && isRepeated(item, offset, slot)) return
    items[size] = item
    offsets[size] = offset
    next[size] = heads[slot]!
    heads[slot] = size++
    for (let i = 0; i <= half; i++) {
      const place = hashHalf(text, offset + i) & mask
      skips[place] = Math.min(skips[place]!, half - i)
    }
  }

  function isRepeated(item: number, offset: number, slot: number): boolean {
    let same = 0
    for (let entry = heads[slot]!; entry >= 0 && same < maxSame; entry = next[entry]!)
      if (items[entry] === item && isSame(texts[item]!, offset, texts[item]!, offsets[entry]!)) same++
    return same === maxSame
  }

  function scan(text: string): Scan {
    const found: Scan = { hits: [], open: text.length }
    const seen: Seen = new Map()
    for (let at = 0; at + window <= text.length; ) {
      const skip = skips[hashHalf(text, at + half) & mask]!
      if (skip > 0) {
        at += skip
        continue
      }
      let end = 0
      for (let entry = heads[hash(text, at) & mask]!; entry >= 0; entry = next[entry]!) {
        const item = items[entry]!
        const place = { item, form: texts[item]!, offset: offsets[entry]!, text, at }
        end = Math.max(end, accepts ? findPart(place, accepts, seen, found) : findWhole(place, found))
      }
      at = accepts ? Math.max(at + 1, end - window + 1) : at + 1
    }
    return found
  }

  return Object.freeze({ scan, isStart })
}

function scanFew(texts: readonly string[], text: string): Scan {
  const found: Scan = { hits: [], open: text.length }
  for (const [item, form] of texts.entries()) {
    for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + 1))
      found.hits.push({ start: at, end: at + form.length, item })
    const first = form.slice(0, window)
    const from = Math.max(0, text.length - form.length + 1)
    for (let at = text.indexOf(first, from); at >= 0 && at < found.open; at = text.indexOf(first, at + 1))
      if (form.startsWith(text.slice(at))) found.open = at
  }
  return found
}

type Place = { item: number; form: string; offset: number; text: string; at: number }
/** By item: where its last part began and ended, so that the next windows of that part are passed over. */
type Seen = Map<number, { diagonal: number; end: number }>

/** Returns the end of an accepted hit, else 0. */
function findWhole({ item, form, text, at }: Place, found: Scan): number {
  if (text.startsWith(form, at)) {
    found.hits.push({ start: at, end: at + form.length, item })
    return at + form.length
  }
  if (at + form.length > text.length && form.startsWith(text.slice(at))) found.open = Math.min(found.open, at)
  return 0
}

function findPart({ item, form, offset, text, at }: Place, accepts: AcceptPart, seen: Seen, found: Scan) {
  const diagonal = at - offset
  const last = seen.get(item)
  if (last?.diagonal === diagonal && at < last.end) return 0
  let [from, to] = [offset, offset]
  while (to < form.length && text.charCodeAt(diagonal + to) === form.charCodeAt(to)) to++
  if (to - from < window) return 0
  while (from > 0 && text.charCodeAt(diagonal + from - 1) === form.charCodeAt(from - 1)) from--
  const [start, end] = [diagonal + from, diagonal + to]
  seen.set(item, { diagonal, end })
  if (end === text.length && to < form.length) found.open = Math.min(found.open, start)
  if (!accepts(form, from, to)) return 0
  found.hits.push({ start, end, item })
  return end
}

function isSame(a: string, from: number, b: string, other: number): boolean {
  for (let i = 0; i < window; i++) if (a.charCodeAt(from + i) !== b.charCodeAt(other + i)) return false
  return true
}

function hash(text: string, at: number): number {
  const mixed = Math.imul(hashHalf(text, at), 0x85ebca6b) ^ hashHalf(text, at + half)
  return mixed ^ (mixed >>> 15)
}

function hashHalf(text: string, at: number): number {
  const first = Math.imul(text.charCodeAt(at), 0x9e3779b1) + Math.imul(text.charCodeAt(at + 1), 0x27d4eb2f)
  const mixed =
    first + Math.imul(text.charCodeAt(at + 2), 0x165667b1) + Math.imul(text.charCodeAt(at + 3), 0x2c1b3c6d)
  return mixed ^ (mixed >>> 15)
}
