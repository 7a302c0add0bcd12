// Tokens of logins to MCP servers: `mcp-auth.json` in the data folder, readable by its owner only. They are stored by
// URL, not by name, so that another server under the same name does not get them.
import type { StoredOAuthClientInformation, StoredOAuthTokens } from "@modelcontextprotocol/client"
import * as Secret from "#kernel/secret/secret.ts"
import { createPrivateJson } from "#kernel/storage/private-json.ts"
import { NamedError } from "#util/error.ts"

export type Login = {
  /** Client and tokens by authorization server: a client id is valid only for its own. */
  issuers: Record<string, { client?: StoredOAuthClientInformation; tokens?: StoredOAuthTokens }>
  /** The authorization server whose tokens are sent. */
  issuer?: string
  /** What the server required when it refused a request. The next login asks for it. */
  wanted?: Wanted
}
export type Wanted = {
  resourceMetadataUrl?: string
  scope?: string
  /** How often the server asked for more rights in spite of logins, and when it last did. */
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

/** Updates of several processes run one after the other. */
export function update(url: string, change: (login: Login) => Login): Promise<void> {
  return file.update((stored) => ({ ...stored, [url]: change(get(url)) }))
}

function isLogin(value: unknown): boolean {
  const issuers = (value as Login | null)?.issuers
  return typeof issuers === "object" && issuers !== null
}
