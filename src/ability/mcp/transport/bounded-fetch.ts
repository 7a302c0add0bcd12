// `fetch` for servers over http. The size of an answer, or of one event of a stream, is bounded; every target is checked
// (`check-target.ts`); redirects stay within the origin.

import { createTargetCheck, type Resolve } from "#ability/mcp/server/check-target.ts"
import { InvalidServer } from "#ability/mcp/server/errors.ts"
import type { MCPServerConfig } from "#ability/mcp/server/types.ts"
import { createDirectFetch } from "#ability/web/direct-fetch.ts"
import { boundMessages } from "#util/bound-messages.ts"
import { followRedirects } from "#util/redirect.ts"
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

  return async (url, init) => {
    const tooLarge = () => new InvalidServer(server, `it sent a message of more than ${messageLimit} bytes`)
    const send = (target: URL) => sendChecked(target, init)
    const response = await followRedirects({ url: new URL(url), method: init?.method, setting, send })
    return boundMessages(response, { limit: messageLimit, error: tooLarge })
  }
}
