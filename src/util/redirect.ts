// Decides which redirects a request with a key, a cookie or a body may follow: those that stay within its origin and keep
// its method. All our clients use it; none leaves redirects to `fetch`.
import { NamedError } from "./error.ts"

export class RedirectRefused extends NamedError {
  constructor(reason: string, { from, to }: { from: string; to?: string }) {
    super("RedirectRefused", reason, { from, ...(to === undefined ? {} : { to }) })
  }
}

const statuses = new Set([301, 302, 303, 307, 308])
const maxHops = 5

/** Sends a request, and again wherever `redirectTarget` allows a redirect to lead. Answers that are not returned are
 * not left open. */
export async function followRedirects(request: {
  url: URL
  method: string | undefined
  setting: string
  send(url: URL): Promise<Response>
}): Promise<Response> {
  const { method = "GET", setting, send } = request
  let { url } = request
  for (let hops = 0; ; hops++) {
    const response = await send(url)
    try {
      const { status, headers } = response
      const location = headers.get("location")
      const next = redirectTarget({ url, method: method.toUpperCase(), status, location, hops, setting })
      if (!next) return response
      url = next
    } catch (error) {
      await response.body?.cancel()
      throw error
    }
    await response.body?.cancel()
  }
}

/**
 * Returns the URL to ask next, or undefined if the answer is not a redirect. Throws `RedirectRefused` for a redirect to
 * another origin, one that would drop the method and the body, and after five hops. `setting` names what a person can
 * change. The error names origins only: a path or a query may hold a secret.
 */
export function redirectTarget(answer: {
  url: URL
  method: string
  status: number
  location: string | null | undefined
  /** How many redirects were followed before this one. */
  hops: number
  setting: string
}): URL | undefined {
  const { url, method, status, location, hops, setting } = answer
  if (!statuses.has(status) || !location) return undefined
  const from = url.origin
  const remedy = `If that is the right server, set ${setting} to its address.`
  if (!URL.canParse(location, url.href))
    throw new RedirectRefused(`${from} redirects to an invalid URL.`, { from })
  const target = new URL(location, url)
  // `file:` and `data:` have the origin "null".
  const to = target.origin === "null" ? target.protocol : target.origin
  if (to !== from)
    throw new RedirectRefused(
      `${from} redirects (${status}) to another origin, ${to}. Nothing was sent there: keys and requests stay with the origin that was configured. ${remedy}`,
      { from, to },
    )
  if (target.username || target.password)
    throw new RedirectRefused(`${from} redirects to a URL with a user name or password in it.`, { from, to })
  if (method !== "GET" && status !== 307 && status !== 308)
    throw new RedirectRefused(
      `${from} answers a ${method} request with redirect ${status}, which would drop the request. ${remedy}`,
      { from, to },
    )
  if (hops >= maxHops)
    throw new RedirectRefused(`${from} redirects more than ${maxHops} times.`, { from, to })
  return target
}
