// A URL as it may be shown: without user info, query and fragment, which is where people put keys.

/** The URL as it was written where there is nothing to take out. */
export function shownUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  // What is no URL with a host may still be meant as one: "user:key@host/path?key=x".
  if (!url?.host) return text.replace(/[?#].*/s, "").replace(/^.*@/s, "")
  if (!url.username && !url.password && !url.search && !url.hash) return text
  url.username = url.password = url.search = url.hash = ""
  return url.href
}
