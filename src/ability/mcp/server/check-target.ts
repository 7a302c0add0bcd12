// Guards against server-side request forgery (SSRF) by MCP servers. A person chose the server's own address. An address
// that the server names, for a login or a redirect, must not be more private: a public server may send us only to public
// addresses. A host name is judged by all addresses that it resolves to, and we connect only to those.
import { lookup } from "node:dns/promises"
import { isIP } from "node:net"
import { proxyOfEnvironment } from "#ability/provider/environment.ts"
import { isPublic } from "#ability/web/check-url.ts"
import { hostOf } from "#ability/web/direct-fetch.ts"
import { blockList } from "#util/block-list.ts"
import { InvalidServer } from "./errors.ts"
import type { MCPServerConfig } from "./types.ts"

export type Resolve = (host: string) => Promise<string[]>
/** The addresses to connect to. Undefined if only a proxy can resolve the name. */
export type TargetCheck = (target: URL) => Promise<string[] | undefined>

/** How private an address is: public, in a private network, on this machine. Others, such as those of cloud metadata, are
 * never allowed. */
const [anywhere, network, machine, nowhere] = [0, 1, 2, 3]
/** How long resolved addresses are kept: long enough for a login. */
const resolveAge = 60_000
const loopback = blockList("127.0.0.0/8", "::1/128")
const privateNetworks = blockList(
  ..."10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 100.64.0.0/10 fc00::/7".split(" "),
)

export function createTargetCheck(options: {
  server: MCPServerConfig
  resolve?: Resolve | undefined
}): TargetCheck {
  const { server, resolve = resolveHost } = options
  const own = new URL(server.url!)
  const known = new Map<string, { addresses: string[] | undefined; time: number }>()
  /** The nearness of the most public address that the server's name ever resolved to. The latest would not do: the
   * owner of the name could point it at a private address for a moment. */
  let ownNearness = nowhere

  async function addressesOf(host: string): Promise<string[] | undefined> {
    if (isIP(host)) return [host]
    if (isLocalName(host)) return ["127.0.0.1", "::1"]
    const before = known.get(host)
    if (before && Date.now() - before.time < resolveAge) return before.addresses
    const addresses = await resolve(host).catch((error) => {
      if (proxyOfEnvironment()) return undefined
      throw new TypeError("fetch failed", { cause: error })
    })
    if (addresses?.length === 0) throw new TypeError(`fetch failed: ${host} has no address`)
    known.set(host, { addresses, time: Date.now() })
    return addresses
  }

  async function checkOwn(): Promise<string[] | undefined> {
    const addresses = await addressesOf(hostOf(own))
    ownNearness = Math.min(ownNearness, ...(addresses?.map(nearnessOf) ?? [anywhere]))
    return addresses
  }

  async function checkForeign(target: URL): Promise<string[] | undefined> {
    await checkOwn()
    const addresses = await addressesOf(hostOf(target))
    const nearest = Math.max(anywhere, ...(addresses?.map(nearnessOf) ?? []))
    if (nearest > ownNearness)
      throw new InvalidServer(server, `it leads to ${target.origin}, ${why(nearest)}`)
    // Plain http is allowed on this machine, and in a private network whose server itself uses it.
    const mayBePlain = nearest === machine || (own.protocol === "http:" && ownNearness !== anywhere)
    if (target.protocol !== "https:" && !mayBePlain)
      throw new InvalidServer(server, `it leads to ${target.origin}, which is not https`)
    return addresses
  }

  function why(nearest: number): string {
    if (ownNearness === anywhere) return "which is not on the public internet"
    return nearest === nowhere
      ? "an address that no server may have"
      : "which is more private than its own address"
  }

  return (target) => (target.origin === own.origin ? checkOwn() : checkForeign(target))
}

function isLocalName(host: string): boolean {
  return /(^|\.)localhost\.?$/.test(host)
}

function nearnessOf(address: string): number {
  if (isPublic(address)) return anywhere
  const family = isIP(address) === 6 ? "ipv6" : "ipv4"
  if (!isIP(address)) return nowhere
  if (privateNetworks.check(address, family)) return network
  return loopback.check(address, family) ? machine : nowhere
}

async function resolveHost(host: string): Promise<string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address)
}
