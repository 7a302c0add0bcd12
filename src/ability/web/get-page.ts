// Gets a web page as bytes. Every address is checked before connecting, after each redirect too. Size, time and the number
// of redirects are limited.
import { lookup } from "node:dns/promises"
import type { IncomingHttpHeaders, IncomingMessage } from "node:http"
import type { Context } from "#ability/call/types.ts"
import { isGuest } from "#kernel/process/guest.ts"
import { errorText, NamedError } from "#util/error.ts"
import { orAborted } from "#util/wait.ts"
import { checkRedirect, checkUrl, isPublic, UrlDenied } from "./check-url.ts"
import { type Body, readBody, requestPage } from "./request-page.ts"

export type Options = {
  signal: AbortSignal
  /** Origins that may be at a private address. */
  granted?: readonly string[]
  /** Judges the target of a redirect by the rules. */
  judge?: Context["judge"]
  /** Sent to the origin of the URL only, so that no redirect takes them elsewhere. */
  headers?: Record<string, string>
  resolve?: (host: string) => Promise<string[]>
  limits?: Partial<Limits>
}
export type Page = Body & {
  url: URL
  status: number
  contentType: string
  declared?: number
  /** The redirects so far. */
  hops: { from: URL; to: URL }[]
  /** Whether the page, or a redirect to it, came from a private address. */
  isLocal: boolean
  /** Milliseconds for which the server allows caching. */
  freshFor: number
}
type Answer = Omit<Page, "hops" | "isLocal" | "freshFor">
type Limits = { bytes: number; milliseconds: number; redirects: number }

/** The server sets no limit for caching. */
const unlimited = Number.POSITIVE_INFINITY

const usual: Limits = { bytes: 5_000_000, milliseconds: 30_000, redirects: 5 }
const redirects = new Set([301, 302, 303, 307, 308])

class Unreachable extends NamedError {
  constructor(url: string, reason: string) {
    super("Fetch.Unreachable", `${JSON.stringify(url)} could not be fetched: ${reason}`, { url })
  }
}

export async function getPage(url: string, options: Options): Promise<Page> {
  const limits = { ...usual, ...options.limits }
  const timeout = AbortSignal.timeout(limits.milliseconds)
  const signal = AbortSignal.any([options.signal, timeout])
  try {
    // Name lookups ignore the signal.
    return await orAborted(follow(url, { ...options, limits, signal }), signal)
  } catch (error) {
    options.signal.throwIfAborted()
    if (timeout.aborted) throw new Unreachable(url, `it took longer than ${limits.milliseconds / 1000} s`)
    throw error instanceof NamedError ? error : new Unreachable(url, errorText(error))
  }
}

async function follow(url: string, options: Options & { limits: Limits }): Promise<Page> {
  const { signal, granted = [], judge, resolve = resolveHost, limits } = options
  const hops: Page["hops"] = []
  let isLocal = false
  let fresh = unlimited
  let next = url
  while (hops.length <= limits.redirects) {
    signal.throwIfAborted()
    // In a sandbox only the proxy of the parent resolves names and decides what may be reached.
    const checked = isGuest()
      ? { url: new URL(next), address: "" }
      : await checkUrl(next, { resolve, granted })
    signal.throwIfAborted()
    isLocal ||= !isPublic(checked.address)
    const isSameOrigin = checked.url.origin === new URL(url).origin
    const response = await requestPage(checked, {
      signal,
      headers: isSameOrigin ? options.headers : undefined,
    })
    fresh = Math.min(fresh, freshFor(response.headers))
    const { location } = response.headers
    if (!redirects.has(response.statusCode!) || !location)
      return { ...(await pageOf(response, checked.url, limits.bytes)), hops, isLocal, freshFor: fresh }
    response.destroy()
    const target = targetOf(location, checked.url)
    if (checked.url.protocol === "https:" && target.protocol === "http:")
      throw new UrlDenied(target.href, "scheme", `${checked.url.href} redirects from https to http.`)
    if (judge) checkRedirect({ to: target, from: checked.url, first: new URL(url), judge })
    hops.push({ from: checked.url, to: target })
    next = target.href
  }
  throw new Unreachable(url, `it redirects more than ${limits.redirects} times, at last to ${next}`)
}

function targetOf(header: string, from: URL): URL {
  // Headers arrive as latin1; servers that do not encode a path send UTF-8.
  const location = Buffer.from(header, "latin1").toString()
  if (!URL.canParse(location, from.href)) throw new UrlDenied(location, "invalid", "a redirect led to it.")
  return new URL(location, from)
}

async function pageOf(response: IncomingMessage, url: URL, limit: number): Promise<Answer> {
  const { "content-type": contentType = "", "content-length": length } = response.headers
  const body = await readBody(response, limit)
  const declared = body.isCut && length !== undefined ? { declared: Number(length) } : {}
  return { ...body, url, status: response.statusCode!, contentType, ...declared }
}

/** All addresses of a name, as the system resolves it. */
export async function resolveHost(host: string): Promise<string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address)
}

/** Milliseconds for which the server allows caching: 0 if it forbids that, infinity if it says nothing. */
export function freshFor(headers: IncomingHttpHeaders): number {
  const { "cache-control": control = "", pragma = "", expires, vary } = headers
  if (vary?.includes("*") || /\bno-(?:store|cache)\b/i.test(`${control},${pragma}`)) return 0
  const age = /(?:^|[\s,])max-age\s*=\s*"?(\d+)/i.exec(control)?.[1]
  if (age !== undefined) return Number(age) * 1_000
  if (expires === undefined) return unlimited
  // An invalid date ("0") counts as expired.
  return Math.max(0, (Date.parse(expires) || 0) - Date.now())
}
