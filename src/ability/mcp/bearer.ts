// Which token goes to a server over http: the one of the host's hooks, of the configuration, or of a login.
import type { AuthProvider } from "@modelcontextprotocol/client"
import * as Secret from "#kernel/secret.ts"
import type { Resolve } from "./check-lead.ts"
import type { AuthToken, MCPHooks } from "./hooks.ts"
import { createLoginTokens } from "./login-tokens.ts"
import type { SDK } from "./sdk.ts"
import type { MCPServerConfig } from "./types.ts"

export function createBearer(options: {
  sdk: SDK
  server: MCPServerConfig
  hooks: MCPHooks
  resolve?: Resolve | undefined
}): AuthProvider | undefined {
  const { server, hooks } = options
  if (hooks.onAuth) return fromHooks(server, { ...hooks, onAuth: hooks.onAuth })
  const auth = server.auth ?? { type: "oauth" }
  if (auth.type === "oauth") return createLoginTokens(options)
  if (auth.type !== "bearer" || !auth.token) return undefined
  const { token } = auth
  Secret.hold(token, `${server.id} token`)
  return { token: async () => token }
}

/** A token is asked for once, refreshed when it ends or is refused, and the SDK then repeats the request. */
function fromHooks(
  server: MCPServerConfig,
  hooks: MCPHooks & { onAuth: () => Promise<AuthToken> },
): AuthProvider {
  let current: Promise<AuthToken> | undefined
  const held = async (token: Promise<AuthToken>) => {
    const value = await token
    Secret.hold(value.value, `${server.id} token`)
    return value
  }
  const renew = (expired: AuthToken) =>
    held(hooks.onAuthRefresh ? hooks.onAuthRefresh(expired) : hooks.onAuth())
  const get = async () => {
    current ??= held(hooks.onAuth())
    const asked = current
    try {
      const token = await asked
      if (token.expires === undefined || token.expires > Date.now()) return token
      // Several requests may find it expired at once.
      if (current === asked) current = renew(token)
      return await current
    } catch (error) {
      current = undefined
      throw error
    }
  }
  return {
    token: async () => (await get()).value,
    async onUnauthorized({ response }) {
      await response.body?.cancel().catch(() => {})
      const refused = await get()
      current = renew(refused)
      await current
    },
  }
}
