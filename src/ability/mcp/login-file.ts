// Tokens of logins to MCP servers: `mcp-auth.json` in the data folder, readable by its owner only. They belong to an
// address, not to a name: a server that takes over a name in a configuration does not get its tokens.
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import type { StoredOAuthClientInformation, StoredOAuthTokens } from "@modelcontextprotocol/client"
import * as Global from "#kernel/global.ts"
import * as PrivateFile from "#kernel/private-file.ts"
import * as Secret from "#kernel/secret.ts"
import { createLock } from "#kernel/storage/lock.ts"
import { NamedError } from "#util/error.ts"

class UnsafeLogins extends NamedError {
  constructor(path: string, reason: string) {
    super(
      "MCP.UnsafeLogins",
      `Logins to MCP servers cannot be kept in ${path}: ${reason}. Move it away and log in again.`,
      { path },
    )
  }
}

export type Login = {
  /** What each authorization server gave. A client id means nothing to another one. */
  issuers: Record<string, { client?: StoredOAuthClientInformation; tokens?: StoredOAuthTokens }>
  /** Whose tokens are sent. */
  issuer?: string
  /** What the server asked for when it refused us, for the next login. */
  wanted?: Wanted
}
export type Wanted = {
  resourceMetadataUrl?: string
  scope?: string
  /** How often it asked for the same rights although a login had followed, and when. */
  again?: number
  time?: number
}
type Stored = Record<string, Login>

/** The login to the server at an address; empty when there is none. */
export function get(url: string): Login {
  const stored = read()
  const login = Object.hasOwn(stored, url) ? stored[url]! : { issuers: {} }
  for (const { tokens, client } of Object.values(login.issuers))
    for (const secret of [tokens?.access_token, tokens?.refresh_token, client?.client_secret])
      Secret.hold(secret, "mcp login")
  return login
}

/** One after the other across processes. */
export async function update(url: string, change: (login: Login) => Login): Promise<void> {
  mkdirSync(Global.data(), { recursive: true, mode: 0o700 })
  const lock = await createLock(join(Global.data(), "mcp-auth.lock"))
  try {
    await lock.acquire()
    try {
      const stored = { ...read(), [url]: change(get(url)) }
      PrivateFile.write(path(), `${JSON.stringify(stored, null, 2)}\n`, { replace: true })
    } finally {
      lock.release()
    }
  } finally {
    lock.close()
  }
}

function read(): Stored {
  const file = path()
  const text = PrivateFile.read(file, (reason) => new UnsafeLogins(file, reason))
  return text === undefined ? {} : parse(text, file)
}

function parse(text: string, file: string): Stored {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === "object" && value !== null && Object.values(value).every(isLogin))
      return value as Stored
  } catch {
    // Said below: its text would show what the file holds.
  }
  throw new UnsafeLogins(file, "it is not the JSON that vitamin wrote")
}

function isLogin(value: unknown): boolean {
  const issuers = (value as Login | null)?.issuers
  return typeof issuers === "object" && issuers !== null
}

function path(): string {
  return join(Global.data(), "mcp-auth.json")
}
