// Where a page may redirect: no further than the URL that was allowed. A rule for one page allows that page, a
// person's reply its site.

import type { Context } from "#ability/call/types.ts"
import { isStricter } from "#ability/permission/permission.ts"
import { UrlDenied } from "./check-url.ts"

type Judge = NonNullable<Context["judge"]>

/** Throws `UrlDenied`. `first` was allowed, `from` redirects. */
export function checkRedirect(step: { to: URL; from: URL; first: URL; judge: Judge }): void {
  const { to, from, first, judge } = step
  const actionOf = ({ href }: URL) => judge({ permission: "network.fetch", target: href })
  const action = actionOf(to)
  if (action === "deny")
    throw new UrlDenied(to.href, "redirect", `${from.href} redirects to it, and the rules deny that.`)
  if (action === "allow" || pageOf(to) === pageOf(first)) return
  if (siteOf(to) === siteOf(first) && !isStricter(action, actionOf(first))) return
  const why = `${from.href} redirects to it, which was not allowed. Fetch that URL itself to ask for it.`
  throw new UrlDenied(to.href, "redirect", why)
}

function siteOf({ host }: URL): string {
  return host.replace(/^www\./, "")
}

/** The same page with or without TLS, "www." or a trailing slash. */
function pageOf(url: URL): string {
  return siteOf(url) + url.pathname.replace(/\/$/, "") + url.search
}
