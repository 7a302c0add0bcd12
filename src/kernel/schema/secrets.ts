// The secrets inside a configuration: registered for redaction, and removed where the configuration is shown.
import { isCredentialName } from "#kernel/process/is-credential-name.ts"
import * as Secret from "#kernel/secret/secret.ts"
import type { Path } from "#util/parse/jsonc.ts"
import { isPlain, type Raw } from "./check.ts"

const hidden = "[redacted]"
const secretKeys = new Set(["apiKey", "token"])
const secretParts = new Set(["headers", "env"])
const urlKeys = new Set(["url", "baseURL"])
// Values of these are ordinary words; redacting them would remove ordinary words from every text.
const plainHeaders =
  /^(accept|accept-.+|content-.+|user-agent|referer|http-referer|x-title|.+-version|.+-beta|.+-region)$/i

/** Register every key, token and header value of a layer with `Secret`. */
export function registerSecrets(value: unknown): void {
  if (Array.isArray(value)) value.forEach(registerSecrets)
  if (!isPlain(value)) return
  for (const [key, item] of Object.entries(value)) {
    if (secretKeys.has(key) && typeof item === "string") Secret.register(item, key)
    else if (key === "headers" && isPlain(item)) registerHeaders(item)
    else registerSecrets(item)
  }
}

/** A copy that is safe to show and to send: plain data, no secrets, functions named as such. */
export function redacted(info: object): Raw {
  return show(info, [], false) as Raw
}

/** A copy that can be used without its secrets: keys, headers, variables named like credentials and functions are left
 * out. */
export function withoutSecrets(value: Raw): Raw {
  return useful(value, []) as Raw
}

function useful(value: unknown, path: Path): unknown {
  if (typeof value === "string") return path[0] === "permission" ? value : Secret.redact(value)
  if (Array.isArray(value)) return value.map((item, i) => useful(item, [...path, i]))
  if (!isPlain(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, item]) => !isLeftOut([...path, key], item))
      .map(([key, item]) => [key, useful(item, [...path, key])]),
  )
}

function isLeftOut(path: Path, value: unknown): boolean {
  const key = String(path.at(-1))
  if (typeof value === "function" || key === "headers") return true
  if (path.at(-2) === "env")
    return isCredentialName(key) || (typeof value === "string" && Secret.reveals(value))
  return isSecret(path) && !isPlain(value)
}

function registerHeaders(headers: Raw) {
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value !== "string" || plainHeaders.test(name)) continue
    Secret.register(value, "header")
    Secret.register(/^\S+ (.+)$/.exec(value)?.[1], "header")
  }
}

function show(value: unknown, path: Path, within: boolean): unknown {
  const conceal = within || isSecret(path)
  if (typeof value === "function") return "[function]"
  if (typeof value === "string") return conceal ? hidden : showText(value, path)
  if (Array.isArray(value) && path[0] === "mcp" && path.at(-1) === "command") return showCommand(value)
  if (Array.isArray(value)) return value.map((item, i) => show(item, [...path, i], conceal))
  if (!isPlain(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, show(item, [...path, key], conceal)]),
  )
}

/** The id of a provider or model may be the same word as a secret key, such as `token`. */
function isSecret(path: Path): boolean {
  const key = path.at(-1)
  const isName = path[0] === "provider" && (path.length === 2 || (path.length === 4 && path[2] === "models"))
  return typeof key === "string" && !isName && (secretKeys.has(key) || secretParts.has(key))
}

function showText(text: string, path: Path): string {
  const safe = Secret.redact(text)
  // The query of a pattern is a part of the rule.
  if (path[0] === "permission") return safe
  return urlKeys.has(String(path.at(-1))) || /^[a-z][a-z0-9+.-]*:\/\//i.test(safe) ? shownUrl(safe) : safe
}

/** The program alone: people write keys into arguments, and some the whole line as one word. */
function showCommand([first, ...rest]: unknown[]): string[] {
  const [program, ...more] = String(first ?? "")
    .trim()
    .split(/\s+/)
  const count = more.length + rest.length
  if (count === 0) return program ? [Secret.redact(program)] : []
  return [Secret.redact(program ?? ""), `[${count} ${count === 1 ? "argument" : "arguments"}]`]
}

/** A URL without user info, query and fragment, where people put keys. */
export function shownUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  // A text without a scheme may still be meant as a URL: "user:key@host/path?key=x".
  if (!url?.host) return text.replace(/[?#].*/s, "").replace(/^.*@/s, "")
  if (!url.username && !url.password && !url.search && !url.hash) return text
  url.username = url.password = url.search = url.hash = ""
  return url.href
}
