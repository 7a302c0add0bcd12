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
import { followRedirects } from "#util/redirect.ts"

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
/** Milliseconds. A server of vitamin sends something every 15 seconds, and a machine that went away sends no end. */
const usualSilence = 120_000

/** A server that sends nothing for `silence` milliseconds counts as gone. */
export function createRemoteFetch(remote: Remote, { silence = usualSilence } = {}): Fetch {
  const own = new URL(remote.url)
  const token = tokenOf(remote)
  const send = createDirectFetch({ silence })

  async function sendOwn(url: URL, init: RequestInit): Promise<Response> {
    if (url.origin !== own.origin)
      throw new InvalidRemote(remote, `it leads to ${url.origin}, another origin than its url`)
    const response = await send(url, { init, addresses: await addressesOf(hostOf(url)) })
    const { status } = response
    if (status === 401 || status === 403) {
      await response.body?.cancel()
      throw new InvalidRemote(
        remote,
        `it refuses the ${token ? "token" : "request without a token"} (status ${status})`,
      )
    }
    return response
  }

  return async (url, init = {}) => {
    const headers = new Headers(init.headers)
    if (token) headers.set("authorization", `Bearer ${token}`)
    const error = () => new InvalidRemote(remote, `it sent a message of more than ${messageLimit} bytes`)
    const response = await followRedirects({
      url: new URL(url),
      method: init.method,
      setting: `the url of the remote agent "${remote.name}"`,
      send: (target) => sendOwn(target, { ...init, headers }),
    })
    return boundMessages(response, { limit: messageLimit, error })
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
