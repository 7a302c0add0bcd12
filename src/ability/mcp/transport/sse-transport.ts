// The deprecated transport of HTTP with server-sent events: answers come on one stream, and requests go to the address
// that the stream names first. A session of the server lasts as long as its stream. So the end of the stream closes the
// connection; the SDK alone would open another stream, for a session that was never initialized.
import type { SSEClientTransport, SSEClientTransportOptions } from "@modelcontextprotocol/client"
import type { SDK } from "#ability/mcp/server/sdk.ts"
import type { Fetch } from "./bounded-fetch.ts"

export function createSseTransport(
  sdk: SDK,
  url: URL,
  options: SSEClientTransportOptions & { fetch: Fetch },
): SSEClientTransport {
  const transport = new sdk.SSEClientTransport(url, { ...options, fetch: fetchOnce })
  return transport

  async function fetchOnce(target: string | URL, init?: RequestInit): Promise<Response> {
    const response = await options.fetch(target, init)
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream")
    if (!response.ok || !response.body || !isStream) return response
    const reader = response.body.getReader()
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const { value } = await reader.read().catch(() => ({ value: undefined }))
        if (value) return controller.enqueue(value)
        await transport.close()
        controller.close()
      },
      cancel: (reason) => reader.cancel(reason),
    })
    return new Response(body, response)
  }
}
