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

/** With version 2, which is a draft, the client's `initialize` decides which version the connection has. */
async function connect(serving: Serving, stream: MessageStream): Promise<Connected> {
  const { app, end } = createAcpAgent(serving)
  if (serving.protocol !== 2) return { connection: app.connect(stream), end }
  const { agentProtocolRouter } = await import("@agentclientprotocol/sdk/experimental/v2")
  const { createDraftAgent } = await import("#edge/acp/draft/draft-agent.ts")
  const draft = createDraftAgent(serving)
  const connection = agentProtocolRouter().withV1(app).withV2(draft.app).connect(stream)
  return { connection, end: () => Promise.all([end(), draft.end()]) }
}

function aborted(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  if (signal.aborted) resolve()
  signal.addEventListener("abort", () => resolve(), { once: true })
  return promise
}
