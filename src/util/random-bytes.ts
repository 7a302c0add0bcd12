// Random bytes from the operating system. Loading node:crypto for them would take a start 7 ms.
import { randomBytes as fromCrypto } from "node:crypto"
import { closeSync, openSync, readSync } from "node:fs"

/** The kernel's generator, which node:crypto uses as well. */
const device = "/dev/urandom"

export function randomBytes(count: number): Buffer {
  return fromDevice(count) ?? fromCrypto(count)
}

/** Undefined on systems without the device, for example on Windows and in a chroot without `/dev`. */
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
