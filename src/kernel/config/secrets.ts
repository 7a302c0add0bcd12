// The secrets inside a configuration: held, so that they leave in no log or event, and taken out where it is shown.
import * as Secret from "#kernel/secret.ts"
import { isPlain, type Raw } from "./check.ts"

const hidden = "[redacted]"
const secretKeys = new Set(["apiKey", "token"])
const secretParts = new Set(["headers", "environment"])
// Values of these are ordinary words; holding them would take ordinary words out of every text.
const plainHeaders =
  /^(accept|accept-.+|content-.+|user-agent|referer|http-referer|x-title|.+-version|.+-beta|.+-region)$/i

/** Hand every key, token and header value of a layer to `Secret`. */
export function holdSecrets(value: unknown): void {
  if (Array.isArray(value)) value.forEach(holdSecrets)
  if (!isPlain(value)) return
  for (const [key, item] of Object.entries(value)) {
    if (secretKeys.has(key) && typeof item === "string") Secret.hold(item, key)
    else if (key === "headers" && isPlain(item)) holdHeaders(item)
    else holdSecrets(item)
  }
}

/** A copy that is safe to show and to send: plain data, no secrets, functions named as such. */
export function redacted(info: object): Raw {
  return show(info) as Raw
}

function holdHeaders(headers: Raw) {
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value !== "string" || plainHeaders.test(name)) continue
    Secret.hold(value, "header")
    Secret.hold(/^\S+ (.+)$/.exec(value)?.[1], "header")
  }
}

function show(value: unknown, within?: string): unknown {
  if (typeof value === "function") return "[function]"
  if (typeof value === "string") return Secret.redact(value)
  if (Array.isArray(value)) return value.map((item) => show(item))
  if (!isPlain(value)) return value
  const copy: Raw = {}
  for (const [key, item] of Object.entries(value)) {
    const secret = secretKeys.has(key) || (within !== undefined && secretParts.has(within))
    copy[key] = secret && typeof item === "string" ? hidden : show(item, key)
  }
  return copy
}
