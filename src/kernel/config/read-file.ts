// Bytes of a file that a project may have put there: bounded, and never waiting on a pipe or a device.
import { constants } from "node:fs"
import { open } from "node:fs/promises"
import { errorCode } from "#util/error.ts"

const maxBytes = 4 << 20

/** The content, or undefined where there is no such file. Anything but a regular file of fair size is an error. */
export async function readSmallFile(path: string): Promise<Buffer | undefined> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((error) => {
    if (["ENOENT", "ENOTDIR"].includes(errorCode(error) ?? "")) return undefined
    throw error
  })
  if (!handle) return undefined
  try {
    const stat = await handle.stat()
    if (!stat.isFile()) throw new Error("it is not a regular file")
    if (stat.size > maxBytes) throw new Error(`${stat.size} bytes are too many; the limit is ${maxBytes}`)
    return await handle.readFile()
  } finally {
    await handle.close()
  }
}
