// Tokens of logins to MCP servers: `mcp-auth.json` in the data folder, readable by its owner only. They belong to an
// address, not to a name: a server that takes over a name in a configuration does not get its tokens.
import type { StoredOAuthClientInformation, StoredOAuthTokens } from "@modelcontextprotocol/client"
import * as Secret from "#kernel/secret/secret.ts"
import { createPrivateJson } from "#kernel/storage/private-json.ts"
import { NamedError } from "#util/error.ts"

export type Login = {
  /** Client and tokens by authorization server: a client id is valid only for its own. */
  issuers: Record<string, { client?: StoredOAuthClientInformation; tokens?: StoredOAuthTokens }>
  /** The authorization server whose tokens are sent. */
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

const file = createPrivateJson<Login>({
  name: "mcp-auth",
  isEntry: isLogin,
  refuse: (file, reason) =>
    new NamedError(
      "MCP.UnsafeLogins",
      `Logins to MCP servers cannot be kept in ${file}: ${reason}. Move it away and log in again.`,
      { path: file },
    ),
})

/** The login to the server at an address; empty when there is none. */
export function get(url: string): Login {
  const stored = file.read()
  const login = Object.hasOwn(stored, url) ? stored[url]! : { issuers: {} }
  for (const { tokens, client } of Object.values(login.issuers))
    for (const secret of [tokens?.access_token, tokens?.refresh_token, client?.client_secret])
      Secret.register(secret, "mcp login")
  return login
}

/** One after the other across processes. */
export function update(url: string, change: (login: Login) => Login): Promise<void> {
  return file.update((stored) => ({ ...stored, [url]: change(get(url)) }))
}

function isLogin(value: unknown): boolean {
  const issuers = (value as Login | null)?.issuers
  return typeof issuers === "object" && issuers !== null
}
