// Fetch for servers over http: an answer, or one event of a stream, never takes more than a message may, a server leads
// nowhere that it must not (`check-lead.ts`), and redirects stay within the origin that was asked.
import { orAborted } from "#util/or-aborted.ts"
import { redirectTarget } from "#util/redirect.ts"
import { createLeadCheck, type Resolve } from "./check-lead.ts"
import { createDirectFetch } from "./direct-fetch.ts"
import { InvalidServer } from "./errors.ts"
import { messageLimit } from "./stdio-transport.ts"
import type { MCPServerConfig } from "./types.ts"

export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>

const eventEnds = ["\n\n", "\n\r\n", "\r\r"]

export function createBoundedFetch(options: {
  server: MCPServerConfig
  resolve?: Resolve | undefined
}): Fetch {
  const { server } = options
  const check = createLeadCheck(options)
  const send = createDirectFetch()
  const setting = `the url of the MCP server "${server.id}"`

  async function sendChecked(target: URL, init: RequestInit | undefined): Promise<Response> {
    const checked = check(target)
    // Name servers do not listen to a signal.
    const addresses = await (init?.signal ? orAborted(checked, init.signal) : checked)
    return send(target, { init, addresses })
  }

  async function follow(url: URL, init: RequestInit | undefined, hops = 0): Promise<Response> {
    const response = await sendChecked(url, init)
    const { status, headers } = response
    const method = (init?.method ?? "GET").toUpperCase()
    try {
      const next = redirectTarget({ url, method, status, location: headers.get("location"), hops, setting })
      if (!next) return response
      await response.body?.cancel()
      return follow(next, init, hops + 1)
    } catch (error) {
      await response.body?.cancel()
      throw error
    }
  }

  return async (url, init) => {
    const response = await follow(new URL(url), init)
    if (!response.body) return response
    const events = response.headers.get("content-type")?.startsWith("text/event-stream") ?? false
    const body = response.body.pipeThrough(limit({ server, events }))
    const bounded = new Response(body, response)
    Object.defineProperty(bounded, "url", { value: response.url })
    return bounded
  }
}

/** Counts a whole answer, or what came since the last event of a stream began: its lines are held until it ends. */
function limit({ server, events }: { server: MCPServerConfig; events: boolean }) {
  let bytes = 0
  let tail = Buffer.alloc(0)
  return new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      const seen = Buffer.concat([tail, chunk])
      const end = events ? lastEnd(seen) : -1
      bytes = end < 0 ? bytes + chunk.length : seen.length - end
      tail = Buffer.from(seen.subarray(-2))
      if (bytes > messageLimit)
        controller.error(new InvalidServer(server, `it sent a message of more than ${messageLimit} bytes`))
      else controller.enqueue(chunk)
    },
  })
}

/** Where the last event that is whole ends; -1 where none is. */
function lastEnd(bytes: Buffer): number {
  const ends = eventEnds.map((end) => {
    const at = bytes.lastIndexOf(end)
    return at < 0 ? -1 : at + end.length
  })
  return Math.max(...ends)
}
