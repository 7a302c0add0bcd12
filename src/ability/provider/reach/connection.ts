// How to reach a provider: base URL, key and headers, from the configuration, then the environment, then a stored
// login, then the table. Keys are registered for redaction.
import * as Env from "#kernel/process/env.ts"
import type { Info } from "#kernel/schema/schema.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { storedKey } from "./auth-file.ts"
import { awsRegion } from "./aws-region.ts"
import { UnknownProvider, Unusable } from "./errors.ts"
import { type Account, type Entry, providers, type Quirks, type Wire } from "./providers.ts"

type Source = "environment" | "config" | "login" | "account" | "none"
/** `variable`: the environment variable that the key came from, or would be looked for in first. */
export type Auth = { apiKey?: string; source: Source; variable?: string }
export type Settings = Exclude<NonNullable<Info["provider"]>[string], string | undefined>
export type Connection = Auth & {
  id: string
  wire: Wire
  baseURL: string
  /** The base URL is not the provider's own. */
  custom: boolean
  headers: Record<string, string>
  quirks: Quirks
  /** The cloud whose account signs requests. */
  account?: Account
}

/** `found`: where a server of this provider answered on this machine. */
type Wanted = { id: string; settings: Settings; wire?: Wire; found?: string | undefined }

const authHeaders = new Set(["authorization", "x-api-key", "api-key", "x-goog-api-key"])
/** Variables that say that there is an account. Without one of them a cloud may still find one, such as that of a machine. */
const accountSigns: Record<Account, string[]> = {
  aws: [
    ...["AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_WEB_IDENTITY_TOKEN_FILE"],
    ...["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI"],
  ],
  google: ["GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_VERTEX_PROJECT"],
  azure: ["AZURE_RESOURCE_NAME"],
}
const versions: Partial<Record<Wire, string>> = { messages: "/v1", gemini: "/v1beta" }

/** What the configuration says about a provider. */
export function settingsOf(config: Info, id: string): Settings {
  const settings = config.provider?.[id]
  return typeof settings === "object" ? settings : {}
}

/** The table entry of a provider. A provider that only the configuration names uses the chat completions API. */
export function entryOf(id: string, settings: Settings): Entry {
  if (Object.hasOwn(providers, id)) return providers[id]!
  if (settings.baseURL === undefined) throw new UnknownProvider(id, Object.keys(providers))
  return { name: id, env: [`${id.toUpperCase().replaceAll(/\W/g, "_")}_API_KEY`] }
}

export function authOf(id: string, settings: Settings): Auth {
  const { env, account } = entryOf(id, settings)
  const find = (): Auth => {
    if (settings.apiKey) return { apiKey: settings.apiKey, source: "config" }
    for (const name of env) {
      const value = Env.get(name)?.trim()
      if (value) return { apiKey: value, source: "environment", variable: name }
    }
    const stored = storedKey(id)
    const variable = env[0] === undefined ? {} : { variable: env[0] }
    const sign = account && accountSigns[account].find((name) => Env.get(name)?.trim())
    if (sign && !stored) return { source: "account", variable: sign }
    return stored ? { apiKey: stored, source: "login", ...variable } : { source: "none", ...variable }
  }
  const auth = find()
  Secret.register(auth.apiKey, `${id} key`)
  return auth
}

export function connect({ id, settings, wire, found }: Wanted): Connection {
  const entry = entryOf(id, settings)
  const { name: _, wire: usual = "chat", baseURL: own, env: __, baseEnv: ___, account, ...quirks } = entry
  const given = configuredBase(entry, settings)
  const custom = given !== undefined && trimmed(given) !== own
  // Servers that imitate OpenAI imitate its chat completions.
  const spoken = wire ?? (custom && (id === "openai" || usual === "rules") ? "chat" : usual)
  const baseURL = given ?? found ?? own
  if (!baseURL) throw new Unusable(id, `set provider.${id}.baseURL to a gateway that offers it`)
  const filled = checked(id, fill(id, baseURL))
  return {
    ...authOf(id, settings),
    id,
    wire: spoken,
    baseURL: custom && !account ? versioned(filled, spoken) : filled,
    custom,
    headers: settings.headers ?? {},
    quirks,
    ...(account ? { account } : {}),
  }
}

/** The base URL that a person gave, if one did. */
export function configuredBase(entry: Entry, settings: Settings): string | undefined {
  return (
    settings.baseURL || baseFromEnvironment(entry) || (entry === providers.ollama ? ollamaHost() : undefined)
  )
}

/** A server on this machine, one with its own authentication header, and one with an account need no key. */
export function needsKey({ apiKey, baseURL, headers, account }: Connection): boolean {
  if (apiKey || account || isLoopback(baseURL)) return false
  return !Object.keys(headers).some((name) => authHeaders.has(name.toLowerCase()))
}

export function isLoopback(baseURL: string): boolean {
  const { hostname } = new URL(baseURL)
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d+){3}$/.test(hostname)
}

function baseFromEnvironment({ env, baseEnv }: Entry): string | undefined {
  const name = baseEnv ?? env[0]?.replace(/(_API)?_(KEY|TOKEN)$/, "_BASE_URL")
  return (name && name !== env[0] && Env.get(name)?.trim()) || undefined
}

/** Ollama's own variable: a host, a port or both. An address for listening on all interfaces means this machine. */
function ollamaHost(): string | undefined {
  const said = Env.get("OLLAMA_HOST")?.trim()
  if (!said) return undefined
  const address = /^https?:\/\//i.test(said)
    ? said
    : `http://${said.startsWith(":") ? "127.0.0.1" : ""}${said}`
  if (!URL.canParse(address)) return undefined
  const url = new URL(address)
  if (url.hostname === "0.0.0.0" || url.hostname === "[::]") url.hostname = "127.0.0.1"
  // A URL has the port of its scheme; a bare host gets Ollama's usual port.
  if (!url.port && address !== said) url.port = "11434"
  return `${trimmed(url.href)}/v1`
}

function fill(id: string, baseURL: string): string {
  return baseURL.replaceAll(/\{([\w|]+)\}/g, (_, names: string) => {
    const all = names.split("|")
    const isRegion = all[0] === "AWS_REGION"
    const value = isRegion ? awsRegion() : all.map((name) => Env.get(name)?.trim()).find(Boolean)
    const profile = isRegion ? ", the profile has no region" : ""
    if (!value)
      throw new Unusable(id, `${all.join(" or ")} is not set${profile}, and its address is ${baseURL}`)
    return encodeURIComponent(value)
  })
}

function checked(id: string, baseURL: string): string {
  const url = URL.canParse(baseURL) ? new URL(baseURL) : undefined
  if (url?.protocol !== "http:" && url?.protocol !== "https:")
    throw new Unusable(id, `its base URL ${JSON.stringify(baseURL)} is not an http or https URL`)
  if (url.username || url.password) throw new Unusable(id, "its base URL has a name or password in it")
  return trimmed(baseURL)
}

/** Adds the version of the API if it is missing. Anthropic's and Google's own clients take a base URL without it,
 * others with it. */
function versioned(baseURL: string, wire: Wire): string {
  return /\/v\d\w*$/.test(baseURL) ? baseURL : `${baseURL}${versions[wire] ?? ""}`
}

function trimmed(baseURL: string): string {
  return baseURL.replace(/\/+$/, "")
}
