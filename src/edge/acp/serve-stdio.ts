// Serves the ACP agent on stdin and stdout until the client closes stdin or disconnects, or until a signal. Before it
// returns, it stops running work and answers open requests.
import type { Readable, Writable } from "node:stream"
import { setTimeout as sleep } from "node:timers/promises"
import type { PersonOptions } from "#edge/acp/session/run-turn.ts"
import { createMessageStream } from "#edge/acp/wire/message-stream.ts"
import * as Log from "#kernel/process/log.ts"
import { createAcpAgent } from "./acp-agent.ts"

type Ends = { input: Readable; output: Writable; signal: AbortSignal }

/** How long the shutdown waits for running turns; after that they are disposed with their instances. */
const shutdownTimeout = 3_000

/** Serve until the client disconnects or `signal` is aborted. */
export async function serveStdio(person: PersonOptions, { input, output, signal }: Ends): Promise<void> {
  const stream = createMessageStream({ input, output })
  const { app, end } = createAcpAgent(person)
  const connection = app.connect(stream)
  await Promise.race([stream.ended, connection.closed, aborted(signal)])
  Log.debug("the ACP connection ends")
  const answered = end().then(() => stream.settled(shutdownTimeout))
  await Promise.race([answered, sleep(shutdownTimeout, undefined, { ref: false })])
  connection.close()
  input.destroy()
}

function aborted(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  if (signal.aborted) resolve()
  signal.addEventListener("abort", () => resolve(), { once: true })
  return promise
}
