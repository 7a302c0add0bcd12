// Converts the entry of a server in a configuration file into the settings that clients take. It accepts the forms of
// other programs: a command as a line or a list, with `args` beside it, `type` or `transport`, and `${VAR}` or
// `${VAR:-default}` in every value.
import { isAbsolute, join } from "node:path"
import * as Env from "#kernel/process/env.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { NamedError } from "#util/error.ts"
import type { MCPAuth, MCPServerConfig } from "./types.ts"

export type Entry = {
  name?: string
  command?: string | string[]
  args?: string[]
  env?: Record<string, string>
  cwd?: string
  type?: string
  transport?: string
  url?: string
  headers?: Record<string, string>
  auth?: MCPAuth
  timeout?: number
  disabled?: boolean
  /** `false` in the form of Codex and opencode. */
  enabled?: boolean
}

type Fill = (text: string) => string

export class InvalidEntry extends NamedError {
  constructor(reason: string) {
    super("MCP.InvalidEntry", reason)
  }
}

const isText = (value: unknown) => typeof value === "string"
const isFlag = (value: unknown) => typeof value === "boolean"
const isList = (value: unknown) => Array.isArray(value) && value.every(isText)
const isPlain = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value)
const areTexts = (value: unknown) =>
  isPlain(value) && Object.values(value).every((one) => isText(one) || Number.isFinite(one) || one === !!one)
const isAuth = (value: unknown) =>
  areTexts(value) && ["oauth", "bearer", "none"].includes((value as MCPAuth).type)

/** Checked by hand: compiling a Zod schema would slow down the start. */
const kinds: { [K in keyof Required<Entry>]: [fits: (value: unknown) => boolean, expected: string] } = {
  name: [isText, "a text"],
  command: [(value) => isText(value) || isList(value), "a text or a list of texts"],
  args: [isList, "a list of texts"],
  env: [areTexts, "an object of texts"],
  cwd: [isText, "a text"],
  type: [isText, "a text"],
  transport: [isText, "a text"],
  url: [isText, "a text"],
  headers: [areTexts, "an object of texts"],
  auth: [isAuth, 'an object with "type": "oauth", "bearer" or "none"'],
  timeout: [(value) => Number.isInteger(value) && Number(value) > 0, "a number of milliseconds"],
  disabled: [isFlag, "true or false"],
  enabled: [isFlag, "true or false"],
}

/** Keys of other tools are ignored. */
export function checkEntry(value: unknown): Entry {
  if (!isPlain(value)) throw new InvalidEntry("it is not an object")
  const entry = value as Record<string, unknown>
  for (const [key, [fits, expected]] of Object.entries(kinds))
    if (entry[key] !== undefined && !fits(entry[key]))
      throw new InvalidEntry(`${key}: ${expected} is expected`)
  return entry
}

const http = new Set(["http", "streamable-http", "streamableHttp"])

/** `folder` is the working directory of the server. With `isLiteral` no variable is expanded. Throws `InvalidEntry`. */
export function normalizeServer(
  entry: Entry,
  { id, folder, isLiteral = false }: { id: string; folder: string; isLiteral?: boolean },
) {
  const fill = isLiteral ? checked : expand
  const { name = id, command, url, auth, timeout } = entry
  const kind = entry.transport ?? entry.type ?? (url === undefined ? "stdio" : "http")
  const shared = { id, name, ...(timeout ? { timeout } : {}) }
  if (http.has(kind) || kind === "sse") {
    if (!url) throw new InvalidEntry("it has no url")
    const headers = fillAll(entry.headers, fill)
    return {
      ...shared,
      transport: kind === "sse" ? "sse" : "http",
      url: checkedUrl(url, fill),
      ...(headers ? { headers } : {}),
      ...(auth ? { auth: fillAuth(auth, fill) } : {}),
    } satisfies MCPServerConfig
  }
  if (kind !== "stdio") throw new InvalidEntry(`its transport ${JSON.stringify(kind)} is not known`)
  const words = [...commandOf(command), ...(entry.args ?? [])].map(fill)
  if (!words[0]) throw new InvalidEntry("it has no command")
  const env = fillAll(entry.env, fill)
  const cwd = entry.cwd === undefined ? folder : fill(entry.cwd)
  return {
    ...shared,
    transport: "stdio",
    command: words,
    cwd: isAbsolute(cwd) ? cwd : join(folder, cwd),
    ...(env ? { env } : {}),
  } satisfies MCPServerConfig
}

function commandOf(command: Entry["command"]): string[] {
  if (typeof command === "string") return splitWords(command)
  return command ?? []
}

/** The error quotes the URL with its variables unexpanded, because their values may be secret; a literal URL is not
 * quoted. */
function checkedUrl(text: string, fill: Fill): string {
  const url = fill(text)
  const { protocol } = URL.parse(url) ?? {}
  if (protocol === "http:" || protocol === "https:") return url
  const written = fill === expand ? ` ${JSON.stringify(text.slice(0, 200))}` : ""
  throw new InvalidEntry(`its url${written} is not one of http or https`)
}

function fillAuth({ type, clientId, token }: NonNullable<Entry["auth"]>, fill: Fill) {
  return {
    type,
    ...(clientId === undefined ? {} : { clientId: fill(clientId) }),
    ...(token === undefined ? {} : { token: fill(token) }),
  }
}

function fillAll(values: Record<string, string> | undefined, fill: Fill): Record<string, string> | undefined {
  if (!values) return undefined
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, fill(String(value))]))
}

/** A variable that is not set is an error: with an empty value, the command would run something else. */
function expand(text: string): string {
  return checked(text).replace(/\$\{(\w+)(?::-([^}]*))?\}/g, (_, name: string, fallback?: string) => {
    const value = Env.get(name) || fallback
    if (value === undefined) throw new InvalidEntry(`the variable ${name} is not set`)
    if (isCredential(name)) Secret.register(value, name)
    return value
  })
}

/** Refused here, because Node's error about it would quote the whole value. */
function checked(text: string): string {
  if (text.includes("\0")) throw new InvalidEntry("there is a NUL character in it")
  return text
}

/** Whether the name of a variable, a header or a URL parameter says that its value is secret. */
function isCredential(name: string): boolean {
  return /key|token|secret|passw|auth|credential|cookie/i.test(name)
}

/** Splits a command line into words. It is no shell: only quotes and backslashes have a meaning. */
function splitWords(line: string): string[] {
  const words: string[] = []
  let word: string | undefined
  let quote: string | undefined
  for (let at = 0; at < line.length; at++) {
    const c = line[at]!
    if (c === "\\" && quote !== "'" && at + 1 < line.length) word = (word ?? "") + line[++at]
    else if (quote) {
      if (c === quote) quote = undefined
      else word += c
    } else if (c === '"' || c === "'") {
      quote = c
      word ??= ""
    } else if (/\s/.test(c)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else word = (word ?? "") + c
  }
  return word === undefined ? words : [...words, word]
}

/** Registers the secrets of a server for redaction: its token, and the values of headers, variables and URL parameters
 * whose names say so. Of a header like "Bearer …" the token alone is registered, too. */
export function registerSecrets({ auth, headers = {}, env = {}, url = "" }: MCPServerConfig): void {
  Secret.register(auth?.token, "token")
  const parameters = URL.parse(url)?.searchParams ?? []
  for (const [name, value] of [...Object.entries(headers), ...Object.entries(env), ...parameters])
    if (isCredential(name)) {
      Secret.register(value, name)
      Secret.register(/^\S+ (.+)$/.exec(value)?.[1], name)
    }
}
