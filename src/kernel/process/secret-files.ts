// Our files with secrets: the server's token in the state folder, keys and logins in the data folder. Their content
// is redacted in every process, and tools cannot reach them unless a rule says so.
import { statSync } from "node:fs"
import { join } from "node:path"
import { realOf } from "#util/file/path-info.ts"
import * as Global from "./global.ts"
import * as PrivateFile from "./private-file.ts"
import * as Secret from "./secret.ts"

/** In lower case. `end` is what follows the path in the paths of what belongs to it. */
type Place = { path: string; end: "/" | "." }
/** `missing`: folders that did not exist when the places were found. */
type Places = { key: string; places: Place[]; missing: string[] }

const loginSecrets = new Set(["access_token", "refresh_token", "id_token", "client_secret"])
/** What each file was when it was last read. */
const seen = new Map<string, string>()
/** A cache: every file of a search is compared with the places. */
let known: Places | undefined

export function tokenFile(): string {
  return join(Global.state(), "token")
}

/** Whether a text has the form of the server's token. */
export function isToken(text: string): boolean {
  return /^[\w-]{43,4096}$/.test(text)
}

/** Redact the content of the files from now on. Cheap if nothing changed: another process may have written one since. */
export function hold(): void {
  // A folder that did not exist may have become a link.
  if (known?.missing.some(stampOf)) known = undefined
  for (const { file, hold } of keptFiles()) {
    const now = stampOf(file)
    if (now === seen.get(file)) continue
    if (now) seen.set(file, now)
    else seen.delete(file)
    const text = now && readOrNothing(file)
    if (text) hold(text)
  }
}

/** Whether an absolute path leads to such a file, or into a folder that is for nothing else. */
export function isSecret(path: string): boolean {
  const given = path.toLowerCase()
  return places().some(({ path: place, end }) => given === place || given.startsWith(place + end))
}

/** By their configured and by their real paths. Beside a file there is a new one while it is being replaced. */
export function places(): Place[] {
  const key = `${Global.state()}\0${Global.data()}`
  if (known?.key !== key) known = { key, ...findPlaces() }
  return known.places
}

function findPlaces(): Omit<Places, "key"> {
  const folders = [Global.state(), Global.data()].map((named) => ({ named, real: realOf(named) }))
  const [states, datas] = folders.map(({ named, real = named }) => [...new Set([named, real])])
  const logins = datas!.flatMap((data) => loginFiles(data))
  const places: Place[] = [
    ...states!.map((path) => ({ path, end: "/" }) as const),
    ...logins.map((path) => ({ path, end: "." }) as const),
  ]
  return {
    places: places.map(({ path, end }) => ({ path: path.toLowerCase(), end })),
    missing: folders.flatMap(({ named, real }) => (real === undefined ? [named] : [])),
  }
}

function keptFiles(): { file: string; hold(text: string): void }[] {
  const [auth, mcp] = loginFiles(Global.data())
  return [
    { file: tokenFile(), hold: holdToken },
    { file: auth!, hold: redactKeys },
    { file: mcp!, hold: (text) => void parse(text, holdLogin) },
  ]
}

function loginFiles(data: string): string[] {
  return ["auth.json", "mcp-auth.json"].map((name) => join(data, name))
}

/** Anything else in its file is replaced by the server, and may be ordinary text. */
function holdToken(text: string): void {
  if (isToken(text.trim())) Secret.hold(text.trim(), "server token")
}

function redactKeys(text: string): void {
  for (const [id, entry] of Object.entries(parse(text) ?? {})) {
    const { key } = (entry ?? {}) as { key?: unknown }
    if (typeof key === "string") Secret.hold(key, `${id} key`)
  }
}

function holdLogin(name: string, value: unknown): unknown {
  if (loginSecrets.has(name) && typeof value === "string") Secret.hold(value, "mcp login")
  return value
}

function parse(text: string, visit?: typeof holdLogin): object | undefined {
  try {
    return JSON.parse(text, visit)
  } catch {
    return undefined
  }
}

function stampOf(file: string): string | undefined {
  try {
    // Without an exception where there is none: this is asked with every output.
    const stat = statSync(file, { throwIfNoEntry: false })
    return stat && `${stat.ino} ${stat.size} ${stat.mtimeMs}`
  } catch {
    return undefined
  }
}

/** A file that cannot be relied on is reported where what it holds is needed. */
function readOrNothing(file: string): string | undefined {
  try {
    return PrivateFile.read(file, (reason) => new Error(reason))
  } catch {
    return undefined
  }
}
