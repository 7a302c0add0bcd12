// Random bytes from the operating system. Loading node:crypto for them would add 7 ms to every start.
import { randomBytes as fromCrypto } from "node:crypto"
import { closeSync, openSync, readSync } from "node:fs"

/** The kernel's generator, which node:crypto uses as well. */
const device = "/dev/urandom"

export function randomBytes(count: number): Buffer {
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
