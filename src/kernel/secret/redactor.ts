// Redacts a stream: replaces known secrets by their labels in bytes that arrive in chunks. The end of a chunk that may be
// the start of a secret is held back until the next chunk.
import * as Secret from "./secret.ts"

export type Redactor = {
  /** Returns the redacted bytes, up to a possible start of a secret. */
  write(chunk: Buffer): Piece[]
  /** Returns the bytes that were held back, at the end. */
  flush(): Piece[]
}
/** `bytes` stand for the next `length` bytes of the stream: the same, or a label. */
export type Piece = { bytes: Buffer; length: number }

/** Shared: a buffer for each chunk would make the garbage of a long output. */
const nothing = Buffer.alloc(0)
/** Bytes that were returned already and may belong to a secret: the start of one in hex with separators is not held back. */
const behind = 32

/** A redactor for one stream. Secrets that become known later count from the next chunk on. */
export function createRedactor(): Redactor {
  /** The first `done` bytes were returned. */
  let pending: Buffer = nothing
  let done = 0

  function write(chunk: Buffer): Piece[] {
    return replace(pending.length ? Buffer.concat([pending, chunk]) : chunk, true)
  }

  function flush(): Piece[] {
    const out = replace(pending, false)
    pending = nothing
    done = 0
    return out
  }

  function replace(bytes: Buffer, hasMore: boolean): Piece[] {
    const { spans, open } = Secret.find(bytes.toString("latin1"), hasMore)
    const out: Piece[] = []
    const pass = (from: number, to: number) =>
      out.push({ bytes: bytes.subarray(from, to), length: to - from })
    let at = done
    for (const { start, end, label } of spans) {
      // If a longer secret may begin at the same place, the next chunk decides.
      if (end <= at || start >= open) continue
      const from = Math.max(at, start)
      if (from > at) pass(at, from)
      out.push({ bytes: Buffer.from(label), length: end - from })
      at = end
    }
    if (open > at) pass(at, open)
    at = Math.max(at, open)
    const from = Math.max(0, Math.min(open, at - behind))
    // A copy: the caller may use its memory again.
    pending = from < bytes.length ? Buffer.from(bytes.subarray(from)) : nothing
    done = at - from
    return out
  }

  return Object.freeze({ write, flush })
}
