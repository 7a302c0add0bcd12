// Runs the server of an adapter until it ends by itself or a signal stops it.
import type { AdapterServer } from "#edge/adapter/use-adapter.ts"
import { waitAtMost } from "#util/wait.ts"
import { onSignal } from "./in-instance.ts"

/** A server may have nothing that keeps the process alive. */
const longestTimer = 2 ** 31 - 1
/** Milliseconds that a server has to stop. */
const patience = 10_000

/** `announce` is called with the address of a server that has one. */
export async function runServer(server: AdapterServer, announce: (url: string) => void): Promise<void> {
  const alive = setInterval(() => {}, longestTimer)
  const { promise: over, resolve } = Promise.withResolvers<void>()
  const stopListening = onSignal((exitCode) => {
    process.exitCode = exitCode
    resolve()
  })
  try {
    await Promise.race([over, runToEnd(server, announce)])
  } finally {
    await waitAtMost(patience, Promise.resolve(server.stop()))
    clearInterval(alive)
    stopListening()
  }
}

async function runToEnd(server: AdapterServer, announce: (url: string) => void): Promise<void> {
  await server.start()
  if (typeof server.url === "string") announce(server.url)
  await (server.ended ?? new Promise(() => {}))
}
