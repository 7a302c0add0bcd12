// Runs the server of an adapter until it ends by itself or a signal stops it.
import type { AdapterServer } from "#edge/adapter/use-adapter.ts"
import { onSignal } from "./in-instance.ts"

/** A server may have nothing that keeps the process alive. */
const longestTimer = 2 ** 31 - 1

/** `announce` is called with the address of a server that has one. */
export async function runServer(server: AdapterServer, announce: (url: string) => void): Promise<void> {
  const alive = setInterval(() => {}, longestTimer)
  const { promise: over, resolve } = Promise.withResolvers<void>()
  const stopListening = onSignal((exitCode) => {
    process.exitCode = exitCode
    resolve()
  })
  try {
    await server.start()
    if (typeof server.url === "string") announce(server.url)
    await Promise.race([over, ...(server.ended ? [server.ended] : [])])
  } finally {
    clearInterval(alive)
    await server.stop()
    stopListening()
  }
}
