// The bytes of messages, made once for all the requests that a message is in. They lie side by side in larger blocks, so
// that a long conversation leaves in a few pieces.
import type { LanguageModelV4Message } from "@ai-sdk/provider"

type Known = { form: string; bytes: Buffer }

const blockBytes = 1 << 16

/** `form` names what `write` makes of a message, where there is more than one way. Only a frozen message is remembered:
 * it cannot change. */
export function createMessageBytes(write: (message: LanguageModelV4Message, form: string) => string) {
  const known = new WeakMap<LanguageModelV4Message, Known>()
  let block = Buffer.alloc(0)
  let used = 0

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
    if (size > blockBytes / 4) return Buffer.from(text)
    if (used + size > block.length) {
      block = Buffer.allocUnsafeSlow(blockBytes)
      used = 0
    }
    block.write(text, used)
    used += size
    return block.subarray(used - size, used)
  }

  return Object.freeze({ bytesOf })
}

/** The same bytes in as few pieces as can be had without copying. */
export function joined(pieces: readonly Buffer[]): Buffer[] {
  const all: Buffer[] = []
  for (let i = 0; i < pieces.length; ) {
    const { buffer, byteOffset } = pieces[i]!
    let end = byteOffset
    for (; pieces[i]?.buffer === buffer && pieces[i]!.byteOffset === end; i++) end += pieces[i]!.length
    if (end > byteOffset) all.push(Buffer.from(buffer, byteOffset, end - byteOffset))
  }
  return all
}
