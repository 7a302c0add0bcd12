// Sends the tokens of a login to the server, and refreshes them when it refuses them. If a login is needed, the server's
// requirements are stored for it, and the call fails with an error that says so.
import type { AuthProvider } from "@modelcontextprotocol/client"
import type { Resolve } from "#ability/mcp/server/check-target.ts"
import { LoginFailed, LoginNeeded } from "#ability/mcp/server/errors.ts"
import type { SDK } from "#ability/mcp/server/sdk.ts"
import type { MCPServerConfig } from "#ability/mcp/server/types.ts"
import { createBoundedFetch } from "#ability/mcp/transport/bounded-fetch.ts"
import * as LoginFile from "./login-file.ts"
import { createLoginProvider } from "./login-provider.ts"

type Given = { sdk: SDK; server: MCPServerConfig; resolve?: Resolve | undefined }

const mostStepUps = 3
const forgotten = 3_600_000

export function createLoginTokens(given: Given): AuthProvider {
  const { sdk, server } = given
  const url = server.url!
  const current = () => {
    const { issuer, issuers } = LoginFile.get(url)
    return issuer === undefined ? undefined : issuers[issuer]?.tokens
  }
  return {
    token: async () => current()?.access_token,
    async onUnauthorized({ response }) {
      const { resourceMetadataUrl, scope } = sdk.extractWWWAuthenticateParams(response)
      const wanted = {
        ...(resourceMetadataUrl ? { resourceMetadataUrl: resourceMetadataUrl.href } : {}),
        ...(scope ? { scope } : {}),
      }
      if (current()?.refresh_token && (await refresh(given, wanted))) return
      await LoginFile.update(url, (login) => ({ ...login, wanted: { ...login.wanted, ...wanted } }))
      throw new LoginNeeded(server)
    },
  }
}

/** Handles a server that wants more rights than the token has. After a few logins without effect, no further login is
 * suggested. */
export async function noteStepUp(
  server: MCPServerConfig,
  asked: { scope?: string; resourceMetadataUrl?: string },
): Promise<Error> {
  let again = 1
  await LoginFile.update(server.url!, (login) => {
    const { wanted, issuers, issuer } = login
    const granted = issuer === undefined ? undefined : issuers[issuer]?.tokens?.scope
    const scope = joinScopes(granted, wanted?.scope, asked.scope)
    const recent = Date.now() - (wanted?.time ?? 0) < forgotten
    again = recent ? (wanted?.again ?? 0) + 1 : 1
    return { ...login, wanted: { ...wanted, ...asked, ...(scope ? { scope } : {}), again, time: Date.now() } }
  })
  if (again < mostStepUps) return new LoginNeeded(server, asked.scope ?? "unnamed rights")
  return new LoginFailed(server, `it asked ${again} times for more rights (${asked.scope ?? "unnamed"})`)
}

function joinScopes(...scopes: (string | undefined)[]): string | undefined {
  return (
    [...new Set(scopes.flatMap((scope) => scope?.split(" ") ?? []).filter(Boolean))].join(" ") || undefined
  )
}

/** Returns whether there is a new token. If not, a login is needed. */
async function refresh(given: Given, wanted: LoginFile.Wanted): Promise<boolean> {
  const { sdk, server } = given
  const provider = createLoginProvider({
    server,
    redirectUrl: "http://127.0.0.1/callback",
    mayRegister: false,
  })
  try {
    const result = await sdk.auth(provider, {
      serverUrl: server.url!,
      fetchFn: createBoundedFetch(given),
      ...(wanted.resourceMetadataUrl ? { resourceMetadataUrl: new URL(wanted.resourceMetadataUrl) } : {}),
    })
    return result === "AUTHORIZED"
  } catch (error) {
    if (error instanceof LoginNeeded || sdk.OAuthError.isInstance(error)) return false
    throw error
  }
}
