// Fetch for servers over http: an answer, or one event of a stream, never takes more than a message may, a server leads
// nowhere that it must not (`check-lead.ts`), and redirects stay within the origin that was asked.

import { createLeadCheck, type Resolve } from "#ability/mcp/server/check-lead.ts"
import { InvalidServer } from "#ability/mcp/server/errors.ts"
import type { MCPServerConfig } from "#ability/mcp/server/types.ts"
import { boundMessages } from "#util/bound-messages.ts"
import { orAborted } from "#util/or-aborted.ts"
import { redirectTarget } from "#util/redirect.ts"
import { createDirectFetch } from "./direct-fetch.ts"
import { messageLimit } from "./stdio-transport.ts"

export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>

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
    const tooLarge = () => new InvalidServer(server, `it sent a message of more than ${messageLimit} bytes`)
    return boundMessages(await follow(new URL(url), init), { limit: messageLimit, error: tooLarge })
  }
}
