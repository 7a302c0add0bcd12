// Which token goes to a server over http: the one of its own settings, else the one that the host's hook gives for this
// server, else the one of a login. A hook is never asked for a server that has a token of its own.
import type { AuthProvider } from "@modelcontextprotocol/client"
import type { Resolve } from "#ability/mcp/server/check-target.ts"
import type { SDK } from "#ability/mcp/server/sdk.ts"
import type { AuthToken, MCPHooks, MCPServerConfig } from "#ability/mcp/server/types.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { createLoginTokens } from "./login-tokens.ts"

type OnAuth = NonNullable<MCPHooks["onAuth"]>

export function createBearer(options: {
  sdk: SDK
  server: MCPServerConfig
  hooks: MCPHooks
  resolve?: Resolve | undefined
}): AuthProvider | undefined {
  const { server, hooks } = options
  const { type, token } = server.auth ?? { type: "oauth" }
  if (type === "bearer" && token) {
    Secret.register(token, `${server.id} token`)
    return { token: async () => token }
  }
  // The SDK would replace a configured Authorization header by any token that it is given.
  if (type === "none" || hasAuthorization(server)) return undefined
  const login = type === "oauth" ? createLoginTokens(options) : undefined
  return hooks.onAuth ? fromHooks({ server, hooks, onAuth: hooks.onAuth, login }) : login
}

function hasAuthorization({ headers = {} }: MCPServerConfig): boolean {
  return Object.keys(headers).some((name) => name.toLowerCase() === "authorization")
}

/** A token is asked for once, refreshed when it ends or is refused, and the SDK then repeats the request. */
function fromHooks(options: {
  server: MCPServerConfig
  hooks: MCPHooks
  onAuth: OnAuth
  login: AuthProvider | undefined
}): AuthProvider {
  const { server, hooks, onAuth, login } = options
  const asking = Object.freeze({ id: server.id, url: server.url! })
  let current: Promise<AuthToken | undefined> | undefined
  const held = async (token: ReturnType<OnAuth>) => {
    const value = await token
    Secret.register(value?.value, `${server.id} token`)
    return value
  }
  const renew = (expired: AuthToken) =>
    held(hooks.onAuthRefresh ? hooks.onAuthRefresh(expired, asking) : onAuth(asking))
  const get = async () => {
    current ??= held(onAuth(asking))
    const asked = current
    try {
      const token = await asked
      if (token?.expires === undefined || token.expires > Date.now()) return token
      // Several requests may find it expired at once.
      if (current === asked) current = renew(token)
      return await current
    } catch (error) {
      current = undefined
      throw error
    }
  }
  return {
    token: async () => (await get())?.value ?? login?.token(),
    async onUnauthorized(context) {
      const refused = await get()
      if (!refused) return login?.onUnauthorized?.(context)
      await context.response.body?.cancel().catch(() => {})
      current = renew(refused)
      await current
    },
  }
}
