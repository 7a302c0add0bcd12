// `fetch` for servers over http. The size of an answer, or of one event of a stream, is bounded; every target is checked
// (`check-target.ts`); redirects stay within the origin.

import { createTargetCheck, type Resolve } from "#ability/mcp/server/check-target.ts"
import { InvalidServer } from "#ability/mcp/server/errors.ts"
import type { MCPServerConfig } from "#ability/mcp/server/types.ts"
import { createDirectFetch } from "#ability/web/direct-fetch.ts"
import { boundMessages } from "#util/bound-messages.ts"
import { redirectTarget } from "#util/redirect.ts"
import { orAborted } from "#util/wait.ts"
import { messageLimit } from "./stdio-transport.ts"

export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>

export function createBoundedFetch(options: {
  server: MCPServerConfig
  resolve?: Resolve | undefined
}): Fetch {
  const { server } = options
  const check = createTargetCheck(options)
  const send = createDirectFetch()
  const setting = `the url of the MCP server "${server.id}"`

  async function sendChecked(target: URL, init: RequestInit | undefined): Promise<Response> {
    const checked = check(target)
    // Name resolution ignores the signal.
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
