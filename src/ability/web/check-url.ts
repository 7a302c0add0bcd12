// Decides which URLs may be fetched: http and https to public addresses. The parser of the URL standard turns every
// spelling of an address (decimal, octal, hex, IPv6-mapped) into one; names are judged by all the addresses that they
// resolve to.
import { isIP } from "node:net"
import type { Context } from "#ability/call/types.ts"
import { isStricter } from "#ability/permission/permission.ts"
import { blockList } from "#util/block-list.ts"
import { errorText, NamedError } from "#util/error.ts"

export type Checked = {
  url: URL
  /** The only address to connect to: a second lookup may give another one. Empty in a sandbox, whose proxy decides. */
  address: string
}
type Resolve = (host: string) => Promise<string[]>
type Reason = "invalid" | "scheme" | "credentials" | "unresolved" | "address" | "domain" | "redirect"

export class UrlDenied extends NamedError {
  readonly reason: Reason

  constructor(url: string, reason: Reason, message: string) {
    const shown = url.length > 200 ? `${url.slice(0, 200)}…` : url
    super("UrlDenied", `${JSON.stringify(shown)} cannot be fetched: ${message}`, { url: shown, reason })
    this.reason = reason
  }
}

/** Loopback, private, link-local, metadata, multicast, reserved, for documentation or measurements. */
const notPublic = blockList(
  ..."0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24".split(" "),
  ..."192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24".split(" "),
  ..."224.0.0.0/4 240.0.0.0/4".split(" "),
  // The metadata service of Azure, although the address looks public.
  "168.63.129.16/32",
  // Special parts of the one public range of IPv6; Teredo and 6to4 (2001::/23, 2002::/16) carry IPv4 addresses.
  ..."2001::/23 2001:db8::/32 2002::/16 3fff::/20".split(" "),
)
/** All other addresses of IPv6 are special, those that stand for IPv4 ones (mapped, compatible, NAT64) among them. */
const publicSix = blockList("2000::/3")

type Judge = NonNullable<Context["judge"]>

/** Returns the URL and the address to connect to, or throws `UrlDenied`. Must be called again for every redirect.
 * `granted` are origins (`http://127.0.0.1:8080`) that may have a private address. */
export async function checkUrl(
  given: string,
  options: { resolve: Resolve; granted?: readonly string[] },
): Promise<Checked> {
  const url = parse(given)
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1")
  const addresses = isIP(host) ? [host] : await addressesOf(host, { given, resolve: options.resolve })
  const [address] = addresses
  if (address === undefined) throw new UrlDenied(given, "unresolved", `${host} has no address.`)
  // "localhost" is never public, whatever a name server says: a proxy would take it for its own machine.
  const wrong = isLocalName(host) ? host : addresses.find((each) => !isPublic(each))
  if (wrong !== undefined && !options.granted?.includes(url.origin))
    throw new UrlDenied(
      given,
      "address",
      `${place(host, wrong)} is not on the public internet. A rule that names it would allow it: network.fetch:${url.origin}/*`,
    )
  return { url, address }
}

/** Anything that is not surely a public address counts as private: also a zone ("fe80::1%eth0"), or no address at
 * all. */
export function isPublic(address: string): boolean {
  const family = isIP(address)
  if (family === 4) return !notPublic.check(address, "ipv4")
  if (family !== 6 || address.includes("%")) return false
  return publicSix.check(address, "ipv6") && !notPublic.check(address, "ipv6")
}

/** Throws `UrlDenied` if a redirect leads to a URL that was not allowed. `first` is the allowed URL, `from` the page
 * that redirects. A rule for a page covers that page, a person's reply covers its site. `verb`: what the tool does. */
export function checkRedirect(step: {
  to: URL
  from: URL
  first: URL
  judge: Judge
  verb?: "Fetch" | "Open"
}): void {
  const { to, from, first, judge, verb = "Fetch" } = step
  const leads = verb === "Fetch" ? "redirects" : "leads"
  const actionOf = ({ href }: URL) => judge({ permission: "network.fetch", target: href })
  const action = actionOf(to)
  if (action === "deny")
    throw new UrlDenied(to.href, "redirect", `${from.href} ${leads} to it, and the rules deny that.`)
  if (action === "allow" || pageOf(to) === pageOf(first)) return
  if (siteOf(to) === siteOf(first) && !isStricter(action, actionOf(first))) return
  const why = `${from.href} ${leads} to it, which was not allowed. ${verb} that URL itself to ask for it.`
  throw new UrlDenied(to.href, "redirect", why)
}

function parse(given: string): URL {
  if (!URL.canParse(given))
    throw new UrlDenied(given, "invalid", "it is no absolute URL, such as https://example.com/page.")
  const url = new URL(given)
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw new UrlDenied(given, "scheme", `only http and https are fetched, not ${url.protocol}`)
  if (url.username || url.password)
    throw new UrlDenied(withoutUser(url), "credentials", "it had a user name or password in it.")
  return url
}

function withoutUser(url: URL): string {
  const copy = new URL(url)
  copy.username = ""
  copy.password = ""
  return copy.href
}

async function addressesOf(
  host: string,
  { given, resolve }: { given: string; resolve: Resolve },
): Promise<string[]> {
  try {
    return await resolve(host)
  } catch (error) {
    throw new UrlDenied(given, "unresolved", `${host} could not be resolved (${errorText(error)}).`)
  }
}

function isLocalName(host: string): boolean {
  return /(^|\.)localhost\.?$/.test(host)
}

function place(host: string, address: string): string {
  return host === address ? host : `${host}, at ${address},`
}

function siteOf({ host }: URL): string {
  return host.replace(/^www\./, "")
}

/** The same page with or without TLS, "www." or a trailing slash. */
function pageOf(url: URL): string {
  return siteOf(url) + url.pathname.replace(/\/$/, "") + url.search
}
