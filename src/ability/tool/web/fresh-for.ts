// How long a page may be used again, as its server says; not at all where the server wants to be asked each time.
import type { IncomingHttpHeaders } from "node:http"

const unsaid = Number.POSITIVE_INFINITY

/** Milliseconds. */
export function freshFor(headers: IncomingHttpHeaders): number {
  const { "cache-control": control = "", pragma = "", expires, vary } = headers
  if (vary?.includes("*") || /\bno-(?:store|cache)\b/i.test(`${control},${pragma}`)) return 0
  const age = /(?:^|[\s,])max-age\s*=\s*"?(\d+)/i.exec(control)?.[1]
  if (age !== undefined) return Number(age) * 1_000
  if (expires === undefined) return unsaid
  // A date that is none ("0") is one that is over.
  return Math.max(0, (Date.parse(expires) || 0) - Date.now())
}
