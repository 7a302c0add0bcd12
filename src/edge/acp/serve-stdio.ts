// Serves the ACP agent on stdin and stdout until the client closes stdin or disconnects, or until a signal.
import type { Readable, Writable } from "node:stream"
import type { Serving } from "#edge/acp/session/run-turn.ts"
import { createMessageStream } from "#edge/acp/wire/message-stream.ts"
import { serveConnection } from "./serve-connection.ts"

type Ends = { input: Readable; output: Writable; signal: AbortSignal }

export async function serveStdio(serving: Serving, { input, output, signal }: Ends): Promise<void> {
  await serveConnection(serving, { stream: createMessageStream({ input, output }), signal })
  input.destroy()
}
