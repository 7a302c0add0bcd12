// Sign-in of browsers. `vitamin web` asks for a code that works once, within a minute. The page exchanges it for a cookie
// with a random session, which can be revoked, and for a key that it sends with each request. Browsers send cookies to every
// port of a machine, so that another server can read ours; the key stays with our origin. Each is worth nothing without the
// other, and the server's token never enters the browser. Only hashes are stored.
import { createHash, randomBytes, timingSafeEqual } from "node:crypto"
import type { Person } from "#kernel/person.ts"
import * as Log from "#kernel/process/log.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { errorText } from "#util/error.ts"

/** `id` is public; the cookie also holds a secret, of which `hash` is the SHA-256. `keyHash` is that of the page's key. */
type Stored = {
  id: string
  hash: string
  keyHash: string
  created: number
  used: number
  browser: string
  person?: Holder
}
/** The person for whom the code was made; without one, the owner of the server. The session ends with their token. */
type Holder = Pick<Person, "name" | "tokenId">
type BrowserSession = Omit<Stored, "hash" | "keyHash">
export type BrowserSessions = Readonly<{
  /** The name of the cookie. Cookies ignore ports, so that each server needs a name of its own. */
  cookie: string
  /** A code for one sign-in, of a person or of the owner. */
  createCode(person?: Holder): { code: string; expires: number }
  /** Undefined if the code is wrong, used or too old. `browser`: its User-Agent. */
  exchange(code: string, browser: string): Promise<{ id: string; value: string; key: string } | undefined>
  /** The session of a cookie and of a page's key, if both are valid. */
  find(value: string, key: string): BrowserSession | undefined
  /** Calls `end` when the session is removed; at once if it is already. Returns a function that forgets it. */
  onRemoved(id: string, end: () => void): () => void
  list(): BrowserSession[]
  /** Returns false if there is no such session. */
  remove(id: string): Promise<boolean>
}>

const codeLifetime = 60_000
const maxCodes = 20
const maxSessions = 50
/** A session that is not used for so long ends. */
export const sessionLifetime = 30 * 24 * 3_600_000
/** The time of the last use is stored this often. */
const noteEvery = 3_600_000
const longestName = 200

/** Sessions belong to one port: two servers never share one, so a revoked session is valid nowhere. */
export async function createBrowserSessions({ port }: { port: number }): Promise<BrowserSessions> {
  const folder = ["browser-session", String(port)] as const
  const sessions = new Map<string, Stored>()
  const codes = new Map<string, { expires: number; person: Holder | undefined }>()
  const ends = new Map<string, Set<() => void>>()
  await Storage.readAll<Stored>(folder, (stored) => void sessions.set(stored.id, stored))

  function createCode(person?: Holder) {
    for (const [known, { expires }] of codes) if (expires <= Date.now()) codes.delete(known)
    const own = [...codes].filter(([, one]) => one.person?.name === person?.name)
    if (own.length >= maxCodes) codes.delete(own[0]![0])
    const code = randomText(32)
    const expires = Date.now() + codeLifetime
    codes.set(hashOf(code), { expires, person })
    return { code, expires }
  }

  async function exchange(code: string, browser: string) {
    const hash = hashOf(code)
    const found = codes.get(hash)
    // Removed before anything is awaited, so that two requests at once cannot both use it.
    codes.delete(hash)
    if (found === undefined || found.expires <= Date.now()) return undefined
    const [id, secret, key] = [randomText(9), randomText(32), randomText(32)]
    const now = Date.now()
    const stored = {
      id,
      hash: hashOf(secret),
      keyHash: hashOf(key),
      created: now,
      used: now,
      browser: browser.slice(0, longestName),
      ...(found.person ? { person: { name: found.person.name, tokenId: found.person.tokenId } } : {}),
    }
    await Storage.write([...folder, id], stored)
    sessions.set(id, stored)
    await Promise.all(superfluous().map(remove))
    return { id, value: `${id}.${secret}`, key }
  }

  /** Sessions that are too old, and the least used ones above the limit of their person: nobody pushes others out. */
  function superfluous(): string[] {
    const byUse = [...sessions.values()].sort((a, b) => b.used - a.used)
    return [...Map.groupBy(byUse, ({ person }) => person?.name).values()].flatMap((own) =>
      own.filter((one, at) => at >= maxSessions || isOver(one)).map(({ id }) => id),
    )
  }

  function find(value: string, key: string): BrowserSession | undefined {
    const [id = "", secret = ""] = value.split(".")
    const found = sessions.get(id)
    if (!found || isOver(found)) return undefined
    if (!isHashOf(found.hash, secret) || !isHashOf(found.keyHash, key)) return undefined
    const now = Date.now()
    if (now - found.used > noteEvery) {
      found.used = now
      Storage.write([...folder, id], found).catch((error) =>
        Log.warn("the use of a browser session could not be stored", { error: errorText(error) }),
      )
    }
    return shown(found)
  }

  async function remove(id: string): Promise<boolean> {
    const isKnown = sessions.delete(id)
    // What was opened with the session must not go on without it.
    for (const end of ends.get(id) ?? []) end()
    ends.delete(id)
    if (isKnown) await Storage.remove([...folder, id])
    return isKnown
  }

  function onRemoved(id: string, end: () => void): () => void {
    if (!sessions.has(id)) end()
    const all = ends.get(id) ?? new Set()
    ends.set(id, all.add(end))
    return () => {
      all.delete(end)
      if (!all.size) ends.delete(id)
    }
  }

  return Object.freeze({
    cookie: `vitamin_session_${port}`,
    createCode,
    exchange,
    find,
    onRemoved,
    list: () => [...sessions.values()].filter((one) => !isOver(one)).map(shown),
    remove,
  })
}

function isOver({ used }: Stored): boolean {
  return Date.now() - used > sessionLifetime
}

function shown({ hash: _, keyHash: __, ...session }: Stored): BrowserSession {
  return session
}

function randomText(bytes: number): string {
  return randomBytes(bytes).toString("base64url")
}

/** A session of an earlier version has no key, and no text has this hash. */
function isHashOf(hash: string | undefined, secret: string): boolean {
  const expected = Buffer.from(hash ?? "")
  const given = Buffer.from(hashOf(secret))
  return expected.length === given.length && timingSafeEqual(given, expected)
}

function hashOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex")
}
