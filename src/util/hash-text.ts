// SHA-256 of a short text, such as the path of a folder. node:crypto is faster for long ones, but loading it adds 7 ms
// to every start.

const primes: number[] = []
for (let number = 2; primes.length < 64; number++)
  if (primes.every((prime) => number % prime)) primes.push(number)
const rounds = primes.map((prime) => fractionOf(Math.cbrt(prime)))
const start = primes.slice(0, 8).map((prime) => fractionOf(Math.sqrt(prime)))
const blockWords = 16

let last = { text: "", hash: "" }

/** The hash of the UTF-8 form of a text, in hexadecimal digits. The last hash is cached: a start asks for the same one
 * often. */
export function hashText(text: string): string {
  if (last.text !== text || last.hash === "") last = { text, hash: compute(text) }
  return last.hash
}

function compute(text: string): string {
  const state = Uint32Array.from(start)
  const all = padded(new TextEncoder().encode(text))
  const words = new Uint32Array(64)
  for (let at = 0; at < all.length; at += blockWords) {
    words.set(all.subarray(at, at + blockWords))
    addBlock(state, words)
  }
  let hash = ""
  for (const word of state) hash += (word + 2 ** 32).toString(16).slice(1)
  return hash
}

/** The text, a bit that is set, zeros, and the length in bits, in whole blocks of words. */
function padded(bytes: Uint8Array): Uint32Array {
  const words = new Uint32Array(Math.ceil((bytes.length + 9) / 64) * blockWords)
  for (let i = 0; i <= bytes.length; i++) words[i >> 2]! |= (bytes[i] ?? 0x80) << (24 - (i & 3) * 8)
  words[words.length - 1] = bytes.length * 8
  return words
}

function addBlock(state: Uint32Array, words: Uint32Array): void {
  for (let i = 16; i < 64; i++) {
    const near = words[i - 2]!
    const far = words[i - 15]!
    const low = rotate(far, 7) ^ rotate(far, 18) ^ (far >>> 3)
    const high = rotate(near, 17) ^ rotate(near, 19) ^ (near >>> 10)
    words[i] = words[i - 16]! + low + words[i - 7]! + high
  }
  const next = state.slice()
  for (let i = 0; i < 64; i++) {
    const a = next[0]!
    const e = next[4]!
    const choice = (e & next[5]!) ^ (~e & next[6]!)
    const mixed = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)
    const added = next[7]! + mixed + choice + rounds[i]! + words[i]!
    const majority = (a & next[1]!) ^ (a & next[2]!) ^ (next[1]! & next[2]!)
    next.copyWithin(1, 0)
    next[4]! += added
    next[0] = added + (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + majority
  }
  for (let i = 0; i < 8; i++) state[i]! += next[i]!
}

function rotate(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits))
}

/** The first 32 bits behind the point. */
function fractionOf(number: number): number {
  return Math.floor((number % 1) * 2 ** 32)
}
