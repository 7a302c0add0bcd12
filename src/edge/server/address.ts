// URLs and Host values of the server. They are derived from the address that the system reports, since --host may be any
// spelling of it ("0", "127.1", "localhost").
import { hostname, networkInterfaces } from "node:os"

/** The URL of the server on this machine. */
export function urlOf(address: string, port: number): string {
  return `http://${isWildcard(address) ? "127.0.0.1" : bracketed(withoutMapping(address))}:${port}`
}

/** The URLs under which other machines can reach the server, none if this one has no network yet; undefined if it listens
 * on loopback only. */
export function openUrls(address: string, port: number): string[] | undefined {
  if (isLoopback(address)) return undefined
  if (!isWildcard(address)) return [`http://${bracketed(withoutMapping(address))}:${port}`]
  const wanted = withoutMapping(address) === "0.0.0.0" ? ["IPv4"] : ["IPv4", "IPv6"]
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ family, scopeid, internal }) => wanted.includes(family) && !scopeid && !internal)
    .map((each) => `http://${bracketed(each.address)}:${port}`)
}

/** The Host values that the server accepts. Bound to every address, it accepts the machine's addresses and host name;
 * otherwise also the name given by --host. */
export function hostsOf(bound: { address: string; asked: string; port: number }): string[] {
  const { address, asked, port } = bound
  const names = new Set(["127.0.0.1", "localhost", "[::1]"])
  // Clients that parse the URL normalise the host: 127.1 becomes 127.0.0.1.
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

/** Converts an IPv4-mapped IPv6 address into the IPv4 address. */
function withoutMapping(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, "")
}

/** The spelling of an address in a URL: IPv6 in brackets. */
function bracketed(address: string): string {
  return (address.includes(":") && !address.startsWith("[") ? `[${address}]` : address).toLowerCase()
}
