// The target of a request as it came over the wire. Parsing it as a URL would resolve dots and change slashes and
// hide the original, so a target that would change is refused first.
import { invalidRequest } from "./refusal.ts"

const place = "its target"

/** The host that a target names, if it is a whole URL. Throws for a path that means another one than it says. */
export function checkTarget(target: string): { host?: string } {
  const [, scheme, host, rest] = /^(?:([a-z][a-z\d+.-]*):\/\/([^/?#\\]*))?(.*)$/is.exec(target) ?? []
  if (scheme !== undefined && scheme.toLowerCase() !== "http")
    throw invalidRequest(place, `${scheme} is not spoken here, only http`)
  const path = (rest ?? "").replace(/\?.*$/s, "")
  if (!path.startsWith("/") && (host === undefined || path !== ""))
    throw invalidRequest(place, "it is not a path")
  if (/[\\#]|%(?:2f|5c|00)/i.test(path))
    throw invalidRequest(place, "it has a backslash, a NUL byte, an encoded slash or a fragment in it")
  if (path.split("/").some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment)))
    throw invalidRequest(place, "it has a segment of dots")
  return host === undefined ? {} : { host }
}
