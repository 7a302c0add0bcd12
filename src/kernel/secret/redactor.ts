// Redacts a stream: replaces known secrets by their labels in bytes that arrive in chunks. The end of a chunk that may be
// the start of a secret is held back until the next chunk.
import * as Secret from "./secret.ts"

export type Redactor = {
  /** Returns the redacted bytes, up to a possible start of a secret. */
  write(chunk: Buffer): Buffer[]
  /** Returns the bytes that were held back, at the end. */
  flush(): Buffer[]
}
type Needle = { bytes: Buffer; label: Buffer }

/** Shared: a buffer for each chunk would make the garbage of a long output. */
const nothing = Buffer.alloc(0)

/** A redactor for one stream. Secrets that become known later count from the next chunk on. */
export function createRedactor(): Redactor {
  let pending: Buffer = nothing
  let known: readonly unknown[] | undefined
  let needles: Needle[] = []

  function refresh(): void {
    const now = Secret.entries()
    if (now === known) return
    known = now
    needles = now
      .map(([value, label]) => ({ bytes: Buffer.from(value), label: Buffer.from(label) }))
      .sort((a, b) => b.bytes.length - a.bytes.length)
  }

  function write(chunk: Buffer): Buffer[] {
    refresh()
    const bytes = pending.length ? Buffer.concat([pending, chunk]) : chunk
    const { out, end } = replace(bytes, needles, true)
    // A copy: the caller may use its memory again.
    pending = end < bytes.length ? Buffer.from(bytes.subarray(end)) : nothing
    return out
  }

  function flush(): Buffer[] {
    const { out } = replace(pending, needles, false)
    pending = nothing
    return out
  }

  return Object.freeze({ write, flush })
}

/** `end`: the offset from which bytes are held back. */
function replace(bytes: Buffer, needles: Needle[], hasMore: boolean): { out: Buffer[]; end: number } {
  const out: Buffer[] = []
  const next = needles.map(({ bytes: needle }) => bytes.indexOf(needle))
  let wait = hasMore ? waitFrom(bytes, 0, needles) : bytes.length
  for (let at = 0; ; ) {
    if (at > wait) wait = waitFrom(bytes, at, needles)
    const found = firstOf(bytes, { at, needles, next })
    const start = found === undefined ? bytes.length : next[found]!
    const upTo = Math.min(wait, start)
    if (upTo > at) out.push(bytes.subarray(at, upTo))
    // If a longer secret may begin at the same place, the next chunk decides.
    if (found === undefined || wait <= start) return { out, end: upTo }
    const { bytes: needle, label } = needles[found]!
    out.push(label)
    at = start + needle.length
  }
}

/** The index of the secret that begins first from `at` on; of several the longest, because `needles` has the longest
 * first. */
function firstOf(
  bytes: Buffer,
  { at, needles, next }: { at: number; needles: Needle[]; next: number[] },
): number | undefined {
  let first: number | undefined
  for (const [i, { bytes: needle }] of needles.entries()) {
    if (next[i]! >= 0 && next[i]! < at) next[i] = bytes.indexOf(needle, at)
    if (next[i]! >= 0 && (first === undefined || next[i]! < next[first]!)) first = i
  }
  return first
}

/** The first offset from `at` on at which the rest of the bytes may be the start of a secret. */
function waitFrom(bytes: Buffer, at: number, needles: Needle[]): number {
  const longest = needles[0]?.bytes.length ?? 0
  for (let i = Math.max(at, bytes.length - longest + 1); i < bytes.length; i++) {
    const rest = bytes.length - i
    for (const { bytes: needle } of needles) {
      // The others are shorter still. A long secret has thousands of short lines.
      if (needle.length <= rest) break
      if (needle[0] === bytes[i] && needle.compare(bytes, i, bytes.length, 0, rest) === 0) return i
    }
  }
  return bytes.length
}
