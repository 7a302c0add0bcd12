// Where a server can be reached, from the address that the system says it listens on: what a person wrote may be any
// spelling of that ("0", "127.1", "localhost").
import { hostname, networkInterfaces } from "node:os"

/** The URL that answers. */
export function urlOf(address: string, port: number): string {
  return `http://${isWildcard(address) ? "127.0.0.1" : bracketed(withoutMapping(address))}:${port}`
}

/** Every URL under which a server listens, when that is more than this machine can reach; else undefined. */
export function openUrls(address: string, port: number): string[] | undefined {
  if (isLoopback(address)) return undefined
  if (!isWildcard(address)) return [`http://${bracketed(withoutMapping(address))}:${port}`]
  const wanted = withoutMapping(address) === "0.0.0.0" ? ["IPv4"] : ["IPv4", "IPv6"]
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ family, scopeid }) => wanted.includes(family) && !scopeid)
    .map((each) => `http://${bracketed(each.address)}:${port}`)
}

/** The Host values of a server. Bound to every address, it answers under the machine's own addresses and name; else
 * also under the name that was asked for. */
export function hostsOf(bound: { address: string; asked: string; port: number }): string[] {
  const { address, asked, port } = bound
  const names = new Set(["127.0.0.1", "localhost", "[::1]"])
  // Spelt as clients spell it that take a URL apart: 127.1 as 127.0.0.1.
  const add = (name: string) => names.add(URL.parse(`http://${bracketed(name)}`)?.hostname ?? bracketed(name))
  if (isWildcard(address)) {
    add(hostname())
    for (const addresses of Object.values(networkInterfaces()))
      for (const { address } of addresses ?? []) add(address)
  } else for (const name of [address, withoutMapping(address), asked.trim()]) add(name)
  return [...names].flatMap((name) => [`${name}:${port}`, ...(port === 80 ? [name] : [])])
}

function isLoopback(address: string): boolean {
  return /^127\.|^::1$/.test(withoutMapping(address))
}

function isWildcard(address: string): boolean {
  return ["0.0.0.0", "::"].includes(withoutMapping(address))
}

/** An IPv4 address that is written as one of IPv6, as itself. */
function withoutMapping(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, "")
}

/** As it stands in a URL. */
function bracketed(address: string): string {
  return (address.includes(":") && !address.startsWith("[") ? `[${address}]` : address).toLowerCase()
}
