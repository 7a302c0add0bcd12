// Searches the records of a project: sessions, messages, task lists, and what programs store beside them. Read only.
// Records of other projects are left out unless requested, and secrets are redacted.
import * as Secret from "#kernel/secret/secret.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { type Found, type Item, isUnder, type Listing, type Query, type Source } from "./source.ts"
import { visibleSessions } from "./visible-sessions.ts"

export type DataSearch = Query & {
  /** In any string of a record, in any case. */
  text?: string | undefined
  /** Fields that must have these values: `{ type: "text", "data.role": "user" }`. */
  where?: Record<string, string | number | boolean> | undefined
  /** Other projects too. */
  everywhere?: boolean | undefined
}
export type DataStore = Source<DataSearch>

const defaultLimit = 50
/** Records after which a search ends. */
const maxRead = 50_000
/** Milliseconds after which a search returns what it has. */
const timeLimit = 20_000
const maxTitles = 8
const maxTitle = 80

type Wanted = { text?: string | undefined; where?: Record<string, string | number | boolean> | undefined }

const around = 120
const maxDepth = 20
/** Fields that only providers and snapshots use. */
const hidden = new Set(["providerMetadata", "snapshot"])

type Session = { title?: string; time?: { created?: number }; taskOf?: unknown }

export function createDataStore(projectId: string): DataStore {
  async function describe({ accepts = () => true }: Query = {}): Promise<string> {
    const lines: string[] = []
    const visible = await visibleSessions()
    await Storage.readAll<Session>(["session", projectId], ({ title, time, taskOf }, name) => {
      if (!title || taskOf || visible?.has(name) === false || !accepts(`session/${projectId}/${name}`)) return
      lines.push(`- ${dateOf(time?.created)} ${title.replaceAll(/\p{Cc}/gu, " ").slice(0, maxTitle)}`)
    })
    if (!lines.length) return "No earlier session of this project is stored."
    return ["The last sessions in this project:", ...lines.reverse().slice(0, maxTitles)].join("\n")
  }

  async function list({ limit = defaultLimit, ...query }: Query = {}): Promise<Listing> {
    const { found, more } = await visit({ projectId, query, pick: (name) => name })
    return { names: found.sort().slice(0, limit), total: found.length, more }
  }

  /** The newest first. */
  async function search({ limit = defaultLimit, ...query }: DataSearch): Promise<Found> {
    const pick = (name: string, value: unknown): Item | undefined => {
      const match = matchRecord(value, query)
      return match && { name, ...match }
    }
    const { found, more, timedOut } = await visit({ projectId, query, pick, enough: limit + 1 })
    return {
      items: found.slice(0, limit),
      more: more || found.length > limit,
      ...(timedOut ? { timedOut } : {}),
    }
  }

  return Object.freeze({ describe, list, search })
}

/** Visits the records that a query may see, the last of each folder first, and collects what `pick` returns, up to
 * `enough`. With `more` not all were read. */
async function visit<T>(options: {
  projectId: string
  query: Pick<DataSearch, "under" | "accepts" | "signal" | "everywhere">
  pick: (name: string, value: unknown) => T | undefined
  enough?: number
}): Promise<{ found: T[]; more: boolean; timedOut: boolean }> {
  const { pick, enough = Number.POSITIVE_INFINITY } = options
  const { under, accepts = () => true, signal, everywhere } = options.query
  const isOwn = await ownedBy(everywhere ? undefined : options.projectId)
  const found: T[] = []
  let read = 0
  let timedOut = false
  const deadline = setTimeout(() => {
    timedOut = true
  }, timeLimit)
  const isOver = () => found.length >= enough || read >= maxRead || timedOut
  try {
    await enter([])
  } finally {
    clearTimeout(deadline)
  }
  return { found, more: isOver(), timedOut }

  async function enter(key: string[]): Promise<void> {
    signal?.throwIfAborted()
    const names = (await Storage.list(key)).reverse()
    if (!names.length) return
    const ends = await pickIn(key, names)
    for (const name of names) {
      const child = [...key, name]
      if (isOver()) return
      if (!ends.has(name) && isOwn(child) && mayHold(child.join("/"), under)) await enter(child)
    }
  }

  /** Returns the names that have nothing below them: the records of sessions, of which there are thousands. */
  async function pickIn(key: string[], names: string[]): Promise<Set<string>> {
    const picked: T[] = []
    const ends = new Set<string>()
    const take = (value: unknown, name: string) => {
      const child = [...key, name]
      if (timedOut || !isOwn(child)) return
      read++
      if (ofSessions.has(child[0]!)) ends.add(name)
      const path = child.join("/")
      const item = isUnder(path, under) && accepts(path) ? pick(path, value) : undefined
      if (item !== undefined) picked.push(item)
    }
    if (key.length) await Storage.readAll(key, take)
    else for (const name of names) await Storage.read([name]).then((value) => take(value, name), ifMissing)
    for (const item of picked.reverse()) if (found.length < enough) found.push(item)
    return ends
  }
}

function mayHold(folder: string, under: string | undefined): boolean {
  return isUnder(folder, under) || (under ?? "").startsWith(`${folder}/`)
}

/** The second part of a key names its owner: a project, or a session of one. Records without an owner belong to programs.
 * Without a project, those of all projects count. A person sees only what belongs to their sessions. */
async function ownedBy(projectId: string | undefined): Promise<(key: string[]) => boolean> {
  const visible = await visibleSessions()
  const owners = new Map<string, string>()
  for (const project of await Storage.list(["session"])) {
    owners.set(project, project)
    for (const session of await Storage.list(["session", project])) owners.set(session, project)
  }
  return ([top = "", second, third]) => {
    if (ofPeople.has(top)) return false
    if (internal.has(top) && projectId !== undefined) return false
    if (visible && !ofSessions.has(top)) return false
    if (second === undefined) return true
    const sessionId = top === "session" ? third : second
    if (visible && sessionId !== undefined && !visible.has(sessionId)) return false
    if (projectId === undefined) return true
    const owner = owners.get(second)
    return owner === projectId || (owner === undefined && !ofSessions.has(top))
  }
}

/** Bookkeeping of the program, whose keys do not say which project they belong to. */
const internal = new Set(["trust", "trust-content", "script", "space", "prompt", "job", "last-session"])
/** Who has access, and what they did. No search shows it. */
const ofPeople = new Set(["person", "audit", "browser-session"])
/** Everything below these belongs to a session, which may be gone. */
const ofSessions = new Set(["session", "message", "turn", "relation", "revert", "grant"])

function dateOf(time: number | undefined): string {
  return new Date(time ?? 0).toISOString().slice(0, 10)
}

function ifMissing(error: unknown): void {
  if (!(error instanceof Storage.NotFound || error instanceof Storage.Corrupt)) throw error
}

/** Matches a record with a query. `kind` is the type of a message, `text` the part that matches. Secrets are neither found
 * nor shown. */
function matchRecord(value: unknown, { text, where }: Wanted): { kind?: string; text: string } | undefined {
  for (const [path, wanted] of Object.entries(where ?? {}))
    if (String(fieldOf(value, path)) !== String(wanted)) return undefined
  const words = excerpt(value, (text ?? "").toLowerCase())
  if (words === undefined) return undefined
  const kind = fieldOf(value, "type")
  return { ...(typeof kind === "string" ? { kind } : {}), text: words }
}

function excerpt(value: unknown, text: string): string | undefined {
  if (text === "") return cut(Secret.redact(JSON.stringify(value)), 0, 2 * around)
  for (const found of stringsIn(value)) {
    if (!found.toLowerCase().includes(text)) continue
    const shown = Secret.redact(found)
    const at = shown.toLowerCase().indexOf(text)
    if (at >= 0) return cut(shown, at - around, at + text.length + around)
  }
  return undefined
}

function* stringsIn(value: unknown, depth = 0): Generator<string> {
  if (typeof value === "string") yield value
  if (typeof value !== "object" || value === null || depth > maxDepth) return
  for (const [name, item] of Object.entries(value)) if (!hidden.has(name)) yield* stringsIn(item, depth + 1)
}

function fieldOf(value: unknown, path: string): unknown {
  let at = value
  for (const name of path.split(".")) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, name)) return undefined
    at = (at as Record<string, unknown>)[name]
  }
  return at
}

/** An excerpt on one line, without half characters at its ends. */
function cut(text: string, from: number, to: number): string {
  const [start, end] = [Math.max(0, from), Math.min(text.length, to)]
  const middle = text.slice(start, end).toWellFormed().replaceAll(/\s+/g, " ").trim()
  return `${start > 0 ? "…" : ""}${middle}${end < text.length ? "…" : ""}`
}
