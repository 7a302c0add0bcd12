// Ids that sort in the order in which they were created: a prefix, 10 characters of milliseconds and 16 random ones, in
// lower-case base 32, which is safe in file names. The milliseconds come from a logical clock: it follows the clock of the
// machine, but never goes back, and is set forward by `followId`.
import { randomBytes as fromCrypto } from "node:crypto"
import { closeSync, openSync, readSync } from "node:fs"

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"
const form = /^[a-z]+_([0-9a-hjkmnp-tv-z]{26})$/
/** The latest time that fits into ten characters. */
const maxTime = 32 ** 10 - 1
let random: Uint8Array = new Uint8Array(16)
let pool: Buffer = Buffer.alloc(0)
let lastTime = 0
let last = ""

const poolBytes = 1_024
/** The kernel's generator, which node:crypto uses as well. */
const device = "/dev/urandom"

/** A new id such as `sess_01kc2x…`. Later calls in one process sort later, also when the clock goes back. */
export function createId(prefix: string): string {
  const now = Date.now()
  if (now > lastTime) advance(now)
  else increment()
  let id = ""
  for (let rest = lastTime, i = 0; i < 10; i++, rest = Math.floor(rest / 32)) id = alphabet[rest % 32] + id
  for (const byte of random) id += alphabet[byte & 31]
  last = id
  return `${prefix}_${id}`
}

/** Make sure that later ids of this process sort after `id`. Another process may have created it by a clock that is ahead. */
export function followId(id: string): void {
  const digits = form.exec(id)?.[1]
  if (digits === undefined || digits <= last) return
  let time = 0
  for (const digit of digits.slice(0, 10)) time = time * 32 + alphabet.indexOf(digit)
  if (time >= lastTime && time < maxTime) advance(time + 1)
}

function advance(time: number) {
  lastTime = time
  random = randomBytes(16)
}

/** The next higher random part, so that ids of one millisecond keep their order. */
function increment() {
  for (let i = random.length - 1; i >= 0; i--) {
    random[i] = (random[i]! + 1) & 31
    if (random[i] !== 0) return
  }
  lastTime++
}

/** From the operating system: loading node:crypto for them would add 7 ms to every start. Bytes are read in advance,
 * because most messages get an id of their own millisecond. No byte is given out twice. */
export function randomBytes(count: number): Buffer {
  if (pool.length < count) pool = fill(Math.max(count, poolBytes))
  const bytes = pool.subarray(0, count)
  pool = pool.subarray(count)
  return bytes
}

function fill(count: number): Buffer {
  return (process.platform === "win32" ? undefined : fromDevice(count)) ?? fromCrypto(count)
}

/** Undefined without the device, for example in a chroot without `/dev`. On Windows the path would name an ordinary file. */
function fromDevice(count: number): Buffer | undefined {
  let fd: number | undefined
  try {
    fd = openSync(device, "r")
    const bytes = Buffer.alloc(count)
    return readSync(fd, bytes) === count ? bytes : undefined
  } catch {
    return undefined
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}
