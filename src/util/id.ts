// Ids that sort by the time they were made: prefix, 10 characters of milliseconds, 16 of randomness, all in
// lower-case base 32, so that they are safe as file names on any file system.
import { randomFillSync } from "node:crypto"

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"
const random = new Uint8Array(16)
let lastTime = 0

/** A new id such as `sess_01kc2x…`. Later calls in one process sort later, also when the clock goes back. */
export function createId(prefix: string): string {
  const now = Date.now()
  if (now > lastTime) {
    lastTime = now
    randomFillSync(random)
  } else increment()
  let id = ""
  for (let rest = lastTime, i = 0; i < 10; i++, rest = Math.floor(rest / 32)) id = alphabet[rest % 32] + id
  for (const byte of random) id += alphabet[byte & 31]
  return `${prefix}_${id}`
}

/** The next higher random part, so that ids of one millisecond keep their order. */
function increment() {
  for (let i = random.length - 1; i >= 0; i--) {
    random[i] = (random[i]! + 1) & 31
    if (random[i] !== 0) return
  }
  lastTime++
}
