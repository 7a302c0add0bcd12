// The bytes of messages, made once for all the requests that a message is in. They lie side by side in larger blocks, so
// that a long conversation leaves in a few pieces.
import type { LanguageModelV4Message } from "@ai-sdk/provider"

/** Blocks are small at first, and larger the more there is to hold. */
const blockBytes = { least: 1 << 16, most: 1 << 20 }

/** `form` names what `write` makes of a message, where there is more than one way. Only a frozen message is remembered:
 * it cannot change. */
export function createMessageBytes(write: (message: LanguageModelV4Message, form: string) => string) {
  const known = new WeakMap<LanguageModelV4Message, { form: string; bytes: Buffer }>()
  let block = Buffer.alloc(0)
  let used = 0
  let stored = 0

  function bytesOf(message: LanguageModelV4Message, form: string): Buffer {
    const before = known.get(message)
    if (before?.form === form) return before.bytes
    if (!Object.isFrozen(message)) return Buffer.from(write(message, form))
    const bytes = store(write(message, form))
    known.set(message, { form, bytes })
    return bytes
  }

  function store(text: string): Buffer {
    const size = Buffer.byteLength(text)
    const next = Math.min(Math.max(stored >> 4, blockBytes.least), blockBytes.most)
    stored += size
    if (size > next / 4) return Buffer.from(text)
    if (used + size > block.length) {
      block = Buffer.allocUnsafeSlow(next)
      used = 0
    }
    block.write(text, used)
    used += size
    return block.subarray(used - size, used)
  }

  return Object.freeze({ bytesOf })
}

/** Add bytes behind others; to the last of those where they lie side by side, so that the pieces are few. */
export function addPiece(pieces: Buffer[], piece: Buffer): void {
  const last = pieces.at(-1)
  const isBeside = last?.buffer === piece.buffer && last.byteOffset + last.length === piece.byteOffset
  if (isBeside)
    pieces[pieces.length - 1] = Buffer.from(last.buffer, last.byteOffset, last.length + piece.length)
  else if (piece.length) pieces.push(piece)
}
