// Texts as bytes, in memory that every batch uses again: a large text is then neither measured nor allocated for.

export type Encoder = {
  /** From here on the bytes that were given before may be overwritten. */
  reset(): void
  encode(text: string): Buffer
}

const size = 1 << 20
const longestCharacter = 3

export function createEncoder(): Encoder {
  let memory: Buffer | undefined
  let used = 0
  return Object.freeze({
    reset() {
      used = 0
    },
    encode(text: string) {
      if (used + text.length * longestCharacter > size) return Buffer.from(text)
      memory ??= Buffer.allocUnsafeSlow(size)
      const start = used
      used += memory.write(text, start)
      return memory.subarray(start, used)
    },
  })
}
