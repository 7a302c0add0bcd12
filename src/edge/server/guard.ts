// Access control, the first step of every request. It checks the exact Host against DNS rebinding, the exact Origin against
// other web sites in the person's browser, and the token, or the session of a browser, against other users of the machine.
// The server's token is that of its owner; any other one is looked up as a personal token.
import { createHash, timingSafeEqual } from "node:crypto"
import type { IncomingMessage } from "node:http"
import type { Socket } from "node:net"
import { parse as parseCookies } from "hono/utils/cookie"
import { foreignHost, foreignOrigin, invalidRequest, unauthorized } from "#edge/server/http/refusal.ts"
import type { BrowserSessions } from "#edge/server/web/browser-sessions.ts"
import type { Person } from "#kernel/person.ts"

/** What is checked of a request. `incoming` is undefined if it did not come over a socket. */
type Asked = {
  method: string
  path: string
  /** The host of its URL, if there is no socket. */
  host?: string
  header(name: string): string | undefined
  incoming?: IncomingMessage | undefined
}
/** Who asks: a signed-in browser, a person; neither for the owner and for open paths. */
type Caller = { browser?: string; person?: Person }
/** Throws, or says who asks. Only a person takes a promise. */
export type Guard = (asked: Asked) => Caller | Promise<Caller> | undefined

const place = "its target"

/** A request must have exactly one Host header with an accepted value. If its target is an absolute URL, the host of that
 * URL must be accepted too. */
export function checkHost(incoming: IncomingMessage, hosts: readonly string[]): void {
  const named = incoming.rawHeaders.filter((_, i, all) => i % 2 === 1 && all[i - 1]?.toLowerCase() === "host")
  if (named.length !== 1 || !hosts.includes(named[0]!.toLowerCase())) throw foreignHost()
  const { host } = checkTarget(incoming.url ?? "")
  if (host !== undefined && !hosts.includes(host.toLowerCase())) throw foreignHost()
}

export function createGuard(options: {
  token: string
  hosts: readonly string[]
  origins: readonly string[]
  isOpen: (method: string, path: string) => boolean
  /** Whether the path is a file of the page, which anybody may read and link to. */
  isPage?: (path: string) => boolean
  /** Browsers that have signed in. */
  browsers?: Pick<BrowserSessions, "cookie" | "find"> | undefined
  /** Called with the connection of each request that showed the token. */
  admit?: (socket: Socket) => void
}): Guard {
  const { hosts, origins, isOpen, browsers } = options
  const expected = digest(options.token)
  return ({ method, path, host, header, incoming }) => {
    if (incoming) checkHost(incoming, hosts)
    else if (!hosts.includes(header("host") ?? host ?? "")) throw foreignHost()
    if (isReading(method) && options.isPage?.(path)) return undefined
    const origin = header("origin")
    if (origin !== undefined && !origins.includes(origin)) throw foreignOrigin()
    if (!["same-origin", "none"].includes(header("sec-fetch-site") ?? "none")) throw foreignOrigin()
    if (isOpen(method, path)) return undefined
    const admit = () => void (incoming && options.admit?.(incoming.socket))
    const token = tokenOf(header) ?? ""
    const hasToken = timingSafeEqual(digest(token), expected)
    const session = hasToken || !browsers ? undefined : browserOf(method, header, browsers)
    if (session?.person) return admitPerson(session.person, admit, session.id)
    if (!hasToken && !session) {
      if (!token.startsWith("vitamin_")) throw unauthorized()
      return admitPerson(token, admit)
    }
    admit()
    return session && { browser: session.id }
  }
}

/** `shown`: a personal token, or the person of a signed-in browser, who must still have theirs. */
async function admitPerson(
  shown: string | Pick<Person, "name" | "tokenId">,
  admit: () => void,
  browser?: string,
): Promise<Caller> {
  const PersonalToken = await import("#edge/server/people/personal-token.ts")
  const person = await (typeof shown === "string" ? PersonalToken.find(shown) : PersonalToken.renew(shown))
  if (!person) throw unauthorized()
  admit()
  return { person, ...(browser === undefined ? {} : { browser }) }
}

/** The session of a browser that shows no token. A browser sends the cookie also for pages of other ports of this machine.
 * Those cannot send the header without asking first, do not know the key in it, and a change must name our own origin. */
function browserOf(
  method: string,
  header: Asked["header"],
  { cookie, find }: Pick<BrowserSessions, "cookie" | "find">,
) {
  if (header("authorization") !== undefined) return undefined
  const value = parseCookies(header("cookie") ?? "", cookie)[cookie]
  if (value === undefined) return undefined
  const key = header("x-vitamin-page")
  if (key === undefined || (!isReading(method) && header("origin") === undefined)) throw foreignOrigin()
  return find(value, key)
}

function isReading(method: string): boolean {
  return method === "GET" || method === "HEAD"
}

function tokenOf(header: Asked["header"]): string | undefined {
  const given = header("authorization")
  if (given !== undefined) return /^Bearer +(\S+) *$/i.exec(given)?.[1]
  return parseCookies(header("cookie") ?? "", "vitamin_token").vitamin_token
}

/** A hash of fixed length, since `timingSafeEqual` needs buffers of equal length. */
function digest(token: string): Buffer {
  return createHash("sha256").update(token).digest()
}

/** Returns the host of a target that is an absolute URL. Throws for paths with dot segments, encoded slashes or
 * backslashes: a URL parser would silently turn them into another path. */
function checkTarget(target: string): { host?: string } {
  const [, scheme, host, rest] = /^(?:([a-z][a-z\d+.-]*):\/\/([^/?#\\]*))?(.*)$/is.exec(target) ?? []
  if (scheme !== undefined && scheme.toLowerCase() !== "http")
    throw invalidRequest(place, `the scheme ${scheme} is not supported, only http`)
  const path = (rest ?? "").replace(/\?.*$/s, "")
  if (!path.startsWith("/") && (host === undefined || path !== ""))
    throw invalidRequest(place, "it is not a path")
  if (/[\\#]|%(?:2f|5c|00)/i.test(path))
    throw invalidRequest(place, "it has a backslash, a NUL byte, an encoded slash or a fragment in it")
  if (path.split("/").some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment)))
    throw invalidRequest(place, "it has a segment of dots")
  return host === undefined ? {} : { host }
}
