// Our files with secrets: the server's token in the state folder, keys, logins and the vault in the data folder. Their
// content is redacted in every process, and tools cannot reach them unless a rule says so.
import { statSync } from "node:fs"
import { join } from "node:path"
import * as Secret from "#kernel/secret/secret.ts"
import { realOf } from "#util/file/path-info.ts"
import * as Global from "./global.ts"
import * as PrivateFile from "./private-file.ts"

/** A path is secret if it equals `path` (in lower case), or begins with `path` followed by `end`. */
type Place = { path: string; end: "/" | "." }
type SecretFile = { file: string; register(text: string): void }
/** `missing`: folders that did not exist when the places were found. */
type Places = { state: string; data: string; files: SecretFile[]; places: Place[]; missing: string[] }

const loginSecrets = new Set(["access_token", "refresh_token", "id_token", "client_secret"])
/** The state of each file when it was last read. */
const seen = new Map<string, string>()
/** A cache, because every file of a search is compared with the places, and every piece of output checks the files. */
let known: Places | undefined

export function tokenFile(): string {
  return join(Global.state(), "token")
}

/** Whether a text has the form of the server's token. */
export function isToken(text: string): boolean {
  return /^[\w-]{43,4096}$/.test(text)
}

/** Redacts the content of the files from now on. Call it again before output: another process may have written one. It is
 * cheap if nothing changed. */
export function register(): void {
  // A folder that did not exist may have become a link.
  if (known?.missing.some(stampOf)) known = undefined
  for (const { file, register } of locate().files) {
    const now = stampOf(file)
    if (now === seen.get(file)) continue
    if (now) seen.set(file, now)
    else seen.delete(file)
    const text = now && readOrNothing(file)
    if (text) register(text)
  }
}

/** Whether an absolute path is one of these files, or in the state folder. */
export function isSecret(path: string): boolean {
  const given = path.toLowerCase()
  return places().some(({ path: place, end }) => given === place || given.startsWith(place + end))
}

/** The files and folders by their configured and by their real paths. */
export function places(): Place[] {
  return locate().places
}

function locate(): Places {
  const [state, data] = [Global.state(), Global.data()]
  if (known?.state !== state || known.data !== data) known = findPlaces(state, data)
  return known
}

function findPlaces(state: string, data: string): Places {
  const folders = [state, data].map((named) => ({ named, real: realOf(named) }))
  const [states, datas] = folders.map(({ named, real = named }) => [...new Set([named, real])])
  const logins = datas!.flatMap((data) => [...loginFiles(data), join(data, "vault")])
  const places: Place[] = [
    ...states!.map((path) => ({ path, end: "/" }) as const),
    ...logins.map((path) => ({ path, end: "." }) as const),
  ]
  return {
    state,
    data,
    files: secretFiles(data),
    places: places.map(({ path, end }) => ({ path: path.toLowerCase(), end })),
    missing: folders.flatMap(({ named, real }) => (real === undefined ? [named] : [])),
  }
}

function secretFiles(data: string): SecretFile[] {
  const [auth, mcp] = loginFiles(data)
  return [
    { file: tokenFile(), register: registerToken },
    { file: auth!, register: registerKeys },
    { file: mcp!, register: (text) => void parse(text, registerLogin) },
  ]
}

function loginFiles(data: string): string[] {
  return ["auth.json", "mcp-auth.json"].map((name) => join(data, name))
}

/** Text that is not a token is not redacted, because it may be ordinary words. */
function registerToken(text: string): void {
  if (isToken(text.trim())) Secret.register(text.trim(), "server token")
}

function registerKeys(text: string): void {
  for (const [id, entry] of Object.entries(parse(text) ?? {})) {
    const { key } = (entry ?? {}) as { key?: unknown }
    if (typeof key === "string") Secret.register(key, `${id} key`)
  }
}

function registerLogin(name: string, value: unknown): unknown {
  if (loginSecrets.has(name) && typeof value === "string") Secret.register(value, "mcp login")
  return value
}

function parse(text: string, visit?: typeof registerLogin): object | undefined {
  try {
    return JSON.parse(text, visit)
  } catch {
    return undefined
  }
}

function stampOf(file: string): string | undefined {
  try {
    // No exception for a missing file: this runs for every output.
    const stat = statSync(file, { throwIfNoEntry: false })
    return stat && `${stat.ino} ${stat.size} ${stat.mtimeMs}`
  } catch {
    return undefined
  }
}

/** Callers that need the content report a file that cannot be trusted. */
function readOrNothing(file: string): string | undefined {
  try {
    return PrivateFile.read(file, (reason) => new Error(reason))
  } catch {
    return undefined
  }
}
