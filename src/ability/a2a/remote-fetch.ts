// `fetch` for one remote agent: only to the origin that a person configured, with the token of that agent. Redirects stay
// within the origin, and the size of an answer, or of one event of a stream, is bounded.
import { lookup } from "node:dns/promises"
import { isIP } from "node:net"
import { proxyOfEnvironment } from "#ability/provider/environment.ts"
import { createDirectFetch, hostOf } from "#ability/web/direct-fetch.ts"
import * as Env from "#kernel/process/env.ts"
import type { RemoteAgent } from "#kernel/schema/schema.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { boundMessages } from "#util/bound-messages.ts"
import { NamedError } from "#util/error.ts"
import { redirectTarget } from "#util/redirect.ts"

/** A remote agent of the configuration. */
export type Remote = RemoteAgent & { name: string }
export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>

/** A remote agent that cannot be used as it is: its settings, its card or its answers. */
export class InvalidRemote extends NamedError {
  constructor({ name }: Pick<Remote, "name">, reason: string) {
    super("A2A.InvalidRemote", `The remote agent ${JSON.stringify(name)} cannot be used: ${reason}`, { name })
  }
}

/** The largest answer, and the largest event of a stream, in bytes. */
const messageLimit = 4_000_000

export function createRemoteFetch(remote: Remote): Fetch {
  const own = new URL(remote.url)
  const token = tokenOf(remote)
  const send = createDirectFetch()

  async function follow(url: URL, init: RequestInit, hops = 0): Promise<Response> {
    if (url.origin !== own.origin)
      throw new InvalidRemote(remote, `it leads to ${url.origin}, another origin than its url`)
    const response = await send(url, { init, addresses: await addressesOf(hostOf(url)) })
    const { status, headers } = response
    if (status === 401 || status === 403) {
      await response.body?.cancel()
      throw new InvalidRemote(
        remote,
        `it refuses the ${token ? "token" : "request without a token"} (status ${status})`,
      )
    }
    const method = (init.method ?? "GET").toUpperCase()
    const setting = `the url of the remote agent "${remote.name}"`
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

  return async (url, init = {}) => {
    const headers = new Headers(init.headers)
    if (token) headers.set("authorization", `Bearer ${token}`)
    const error = () => new InvalidRemote(remote, `it sent a message of more than ${messageLimit} bytes`)
    return boundMessages(await follow(new URL(url), { ...init, headers }), { limit: messageLimit, error })
  }
}

/** The environment variable that a token of the form `$NAME` or `${NAME}` stands for. */
export function tokenVariable(token: string | undefined): string | undefined {
  return /^\$(?:(\w+)|\{(\w+)\})$/
    .exec(token ?? "")
    ?.slice(1)
    .find(Boolean)
}

function tokenOf(remote: Remote): string | undefined {
  const name = tokenVariable(remote.token)
  const token = name === undefined ? remote.token : Env.get(name)
  if (name !== undefined && !token)
    throw new InvalidRemote(remote, `the variable ${name} of its token is not set`)
  Secret.register(token, `${remote.name} token`)
  return token
}

async function addressesOf(host: string): Promise<string[] | undefined> {
  if (isIP(host)) return [host]
  try {
    return (await lookup(host, { all: true })).map(({ address }) => address)
  } catch (error) {
    if (proxyOfEnvironment()) return undefined
    throw new TypeError("fetch failed", { cause: error })
  }
}
