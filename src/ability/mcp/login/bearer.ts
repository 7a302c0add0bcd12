// Chooses the token for a server over http: the one in its settings, else the one of the host's hook, else the one of a
// login. The hook is not called for a server that has a token in its settings.
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

/** The hook is called once. If the token expires or is refused, it is refreshed, and the SDK repeats the request. */
function fromHooks(options: {
  server: MCPServerConfig
  hooks: MCPHooks
  onAuth: OnAuth
  login: AuthProvider | undefined
}): AuthProvider {
  const { server, hooks, onAuth, login } = options
  const asking = Object.freeze({ id: server.id, url: server.url! })
  let current: Promise<AuthToken | undefined> | undefined
  const withSecret = async (token: ReturnType<OnAuth>) => {
    const value = await token
    Secret.register(value?.value, `${server.id} token`)
    return value
  }
  const renew = (expired: AuthToken) =>
    withSecret(hooks.onAuthRefresh ? hooks.onAuthRefresh(expired, asking) : onAuth(asking))
  const get = async () => {
    current ??= withSecret(onAuth(asking))
    const asked = current
    try {
      const token = await asked
      if (token?.expires === undefined || token.expires > Date.now()) return token
      // Of several requests at once, only the first renews it.
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
