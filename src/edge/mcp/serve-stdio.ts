// Serves MCP on stdin and stdout until the client closes stdin, or until a signal.
import { AsyncLocalStorage } from "node:async_hooks"
import type { Writable } from "node:stream"
import { StdioServerTransport, serveStdio as serve } from "@modelcontextprotocol/server/stdio"
import * as Log from "#kernel/process/log.ts"
import { createConsents } from "./consents.ts"
import { createMcpServer, type Options } from "./create-mcp-server.ts"

/** Serve until the client disconnects or `signal` is aborted. */
export async function serveStdio(
  options: Options,
  { output, signal }: { output: Writable; signal: AbortSignal },
): Promise<void> {
  const inside = AsyncLocalStorage.snapshot()
  const { promise: over, resolve: end } = Promise.withResolvers<void>()
  const transport = new StdioServerTransport(process.stdin, output)
  const close = transport.close.bind(transport)
  transport.close = async () => {
    end()
    await close()
  }
  if (signal.aborted) end()
  signal.addEventListener("abort", () => end(), { once: true })
  const consents = createConsents()
  const handle = serve(() => createMcpServer({ options, inside, consents }), {
    transport,
    onerror: (error) => Log.warn("the MCP client sent an invalid message", { error }),
  })
  await over
  await handle.close().catch((error) => Log.debug("the MCP connection failed to close", { error }))
  process.stdin.destroy()
}
