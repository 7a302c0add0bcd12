// The hosts that pages have asked for. A browser also talks to services of its maker, for updates and the like: the proxy
// lets only hosts through that a page needs.
import { waitAtMost } from "#util/wait.ts"

export type ExpectedHosts = Readonly<{
  add(url: string): void
  /** The event of a redirect may come a little later than its connection. */
  includes(url: string): Promise<boolean>
}>

const grace = 1_000

export function createExpectedHosts(): ExpectedHosts {
  const hosts = new Set<string>()
  const waiting = new Map<string, PromiseWithResolvers<void>>()

  function add(url: string): void {
    const host = hostOf(url)
    hosts.add(host)
    waiting.get(host)?.resolve()
    waiting.delete(host)
  }

  async function includes(url: string): Promise<boolean> {
    const host = hostOf(url)
    if (hosts.has(host)) return true
    const later = waiting.get(host) ?? Promise.withResolvers<void>()
    waiting.set(host, later)
    await waitAtMost(grace, later.promise)
    waiting.delete(host)
    return hosts.has(host)
  }

  return Object.freeze({ add, includes })
}

/** Ports are left out: a tunnel always names one, a URL often does not. */
function hostOf(url: string): string {
  return URL.parse(url)?.hostname ?? ""
}
