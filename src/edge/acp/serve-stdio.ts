// Serves the agent on stdin and stdout. It ends when the client closes our input or is gone, or on a signal; running
// work is stopped, and open requests are answered first.
import type { Readable, Writable } from "node:stream"
import { setTimeout as sleep } from "node:timers/promises"
import type { PersonOptions } from "#edge/acp/session/run-turn.ts"
import { createMessageStream } from "#edge/acp/wire/message-stream.ts"
import * as Log from "#kernel/process/log.ts"
import { createAcpAgent } from "./acp-agent.ts"

type Ends = { input: Readable; output: Writable; signal: AbortSignal }

/** How long the work of a turn may take to end; after that it is disposed with the instances. */
const patience = 3_000

/** Serve until the client goes, or until `signal` says so. */
export async function serveStdio(person: PersonOptions, { input, output, signal }: Ends): Promise<void> {
  const stream = createMessageStream({ input, output })
  const { app, end } = createAcpAgent(person)
  const connection = app.connect(stream)
  await Promise.race([stream.ended, connection.closed, aborted(signal)])
  Log.debug("the ACP connection ends")
  const answered = end().then(() => stream.settled(patience))
  await Promise.race([answered, sleep(patience, undefined, { ref: false })])
  connection.close()
  input.destroy()
}

function aborted(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  if (signal.aborted) resolve()
  signal.addEventListener("abort", () => resolve(), { once: true })
  return promise
}
