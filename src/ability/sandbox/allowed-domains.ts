// Which hosts a program in the sandbox may reach through the proxy: those of `allowedDomains`, at public addresses. Only
// an entry with a port reaches a private address, because it names exactly one service.
import { type Checked, checkUrl, UrlDenied } from "#ability/web/check-url.ts"
import { resolveHost } from "#ability/web/get-page.ts"

export type Check = (url: string) => Promise<Checked>
type Entry = { host: string; below: boolean; port: string | undefined }

const form = /^(\*\.)?([^:/\s*]+|\[[0-9a-f:.]+\])(?::(\d{1,5}))?$/i

/** `allowUrl` decides on the hosts that no entry names. */
export function createCheck(domains: readonly string[], allowUrl?: Check): Check {
  const entries = domains.map(parse)
  return async (given) => {
    const url = URL.parse(given)
    const fitting = url ? entries.filter((entry) => fits(entry, url)) : []
    if (!url || fitting.length === 0) {
      if (allowUrl) return allowUrl(given)
      throw new UrlDenied(given, "domain", "the sandbox does not allow this host; see allowedDomains.")
    }
    const isNamed = fitting.some(({ port, below }) => port !== undefined && !below)
    return checkUrl(given, { resolve: resolveHost, granted: isNamed ? [url.origin] : [] })
  }
}

/** Throws for an entry that would allow nothing, or more than it seems to. */
function parse(text: string): Entry {
  const [, below, host, port] = form.exec(text) ?? []
  if (!host)
    throw new UrlDenied(
      text,
      "invalid",
      "expected a host such as example.com, *.example.com or localhost:8080.",
    )
  // As the parser of URLs writes it: lower case, punycode, one spelling of each address.
  const { hostname } = new URL(`http://${host}/`)
  return { host: hostname, below: below !== undefined, port }
}

function fits({ host, below, port }: Entry, url: URL): boolean {
  const actual = url.port || (url.protocol === "https:" ? "443" : "80")
  if (port === undefined ? actual !== "443" && actual !== "80" : actual !== port) return false
  const name = url.hostname.replace(/\.$/, "")
  return below ? name.endsWith(`.${host}`) : name === host
}
