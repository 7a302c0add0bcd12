// Serves the ACP agent to one client until the client disconnects or a signal is aborted. Before it returns, it stops
// running work and answers open requests.
import { setTimeout as sleep } from "node:timers/promises"
import type { Serving } from "#edge/acp/session/run-turn.ts"
import type { MessageStream } from "#edge/acp/wire/message-stream.ts"
import * as Log from "#kernel/process/log.ts"
import { createAcpAgent } from "./acp-agent.ts"

/** How long the shutdown waits for running turns; after that they are disposed with their instances. */
const shutdownTimeout = 3_000

export async function serveConnection(
  serving: Serving,
  { stream, signal }: { stream: MessageStream; signal: AbortSignal },
): Promise<void> {
  const { connection, end } = await connect(serving, stream)
  await Promise.race([stream.ended, connection.closed, aborted(signal)])
  Log.debug("the ACP connection ends")
  const answered = end().then(() => stream.settled(shutdownTimeout))
  await Promise.race([answered, sleep(shutdownTimeout, undefined, { ref: false })])
  connection.close?.()
}

type Connected = { connection: { closed: Promise<void>; close?(): void }; end(): Promise<unknown> }

async function connect(serving: Serving, stream: MessageStream): Promise<Connected> {
  const { app, end } = createAcpAgent(serving)
  return { connection: app.connect(stream), end }
}

function aborted(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  if (signal.aborted) resolve()
  signal.addEventListener("abort", () => resolve(), { once: true })
  return promise
}
