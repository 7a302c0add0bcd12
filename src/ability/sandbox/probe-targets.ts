// What the launcher tries to reach from inside: each exists, and could be reached if there were no boundary.

import { once } from "node:events"
import { accessSync, constants } from "node:fs"
import { type AddressInfo, createServer } from "node:net"
import { homedir } from "node:os"
import { join } from "node:path"
import { isInside } from "#util/file/resolve-inside.ts"

/** A port of loopback that takes connections. */
export async function openPort(): Promise<{ port: number } & Disposable> {
  const server = createServer((socket) => void socket.destroy()).unref()
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return { port: (server.address() as AddressInfo).port, [Symbol.dispose]: () => void server.close() }
}

/** A file that this user can write, if there is one, outside of the writable folders. */
export function outsideFile(writable: string[]): string {
  const likely = [
    import.meta.filename,
    process.execPath,
    join(homedir(), ".profile"),
    join(homedir(), ".bashrc"),
  ]
  return (
    likely.find((file) => isWritable(file) && !writable.some((folder) => isInside(folder, file))) ??
    "/etc/passwd"
  )
}

function isWritable(file: string): boolean {
  try {
    accessSync(file, constants.W_OK)
    return true
  } catch {
    return false
  }
}
