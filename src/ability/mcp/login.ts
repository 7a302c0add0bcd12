// `vitamin mcp login`: shows the address that a person opens, waits on this machine for the redirect, and stores the
// tokens. OAuth 2.1 with PKCE; our identity is a configured client id, a metadata document, or a dynamic
// registration.

import { createMCPClient } from "#ability/mcp/client/create-client.ts"
import * as LoginFile from "#ability/mcp/login/login-file.ts"
import { createLoginProvider } from "#ability/mcp/login/login-provider.ts"
import { createTargetCheck, type Resolve } from "#ability/mcp/server/check-target.ts"
import { InvalidServer, LoginFailed, LoginNeeded } from "#ability/mcp/server/errors.ts"
import { loadSDK, type SDK } from "#ability/mcp/server/sdk.ts"
import type { MCPServerConfig } from "#ability/mcp/server/types.ts"
import { createBoundedFetch } from "#ability/mcp/transport/bounded-fetch.ts"
import { openCallback } from "#kernel/login/open-callback.ts"
import { errorText } from "#util/error.ts"

type Place = { server: MCPServerConfig; resolve?: Resolve }

const timeout = 300_000

/** Resolves after the tokens are stored. Returns "present" if the server needs no login. */
export async function login(options: {
  server: MCPServerConfig
  /** The address to open in a browser. */
  onUrl: (url: string) => void
  signal?: AbortSignal
  /** Resolves host names, in place of the system. */
  resolve?: Resolve
}): Promise<"present" | "done"> {
  const { server, onUrl } = options
  if (server.transport === "stdio" || !server.url)
    throw new InvalidServer(server, "only http servers have logins")
  const wanted = await findWanted(options)
  if (!wanted) return "present"
  const sdk = await loadSDK()
  const signal = AbortSignal.any([AbortSignal.timeout(timeout), ...(options.signal ? [options.signal] : [])])
  await using callback = await openCallback(signal)
  const provider = createLoginProvider({ server, redirectUrl: callback.url, mayRegister: true })
  const flow = {
    serverUrl: server.url,
    fetchFn: createBoundedFetch(options),
    ...(wanted.resourceMetadataUrl ? { resourceMetadataUrl: new URL(wanted.resourceMetadataUrl) } : {}),
    ...(wanted.scope ? { scope: wanted.scope } : {}),
    ...((await isOfOldRevision({ ...options, sdk, wanted })) ? { skipIssuerMetadataValidation: true } : {}),
  }
  const checkTarget = createTargetCheck(options)
  try {
    // Check it here: the SDK would ignore a refused metadata URL without any error.
    if (flow.resourceMetadataUrl) await checkTarget(flow.resourceMetadataUrl)
    const begun = await sdk.auth(provider, { ...flow, forceReauthorization: true })
    if (begun === "REDIRECT") {
      const destination = provider.destination()!
      if (!/^https?:$/.test(destination.protocol))
        throw new Error(`it leads to a ${destination.protocol} URL; a login needs http or https`)
      await checkTarget(destination)
      onUrl(destination.href)
      const { code, iss } = await callback.answer(provider.expectedState)
      await sdk.auth(provider, { ...flow, authorizationCode: code, ...(iss === undefined ? {} : { iss }) })
    }
  } catch (error) {
    if (options.signal?.aborted) throw options.signal.reason
    throw new LoginFailed(server, errorText(error), { cause: error })
  }
  // The requested scopes are granted now; only the number of attempts is kept.
  await LoginFile.update(server.url, ({ wanted: { again, time } = {}, ...rest }) => ({
    ...rest,
    ...(again ? { wanted: { again, ...(time ? { time } : {}) } } : {}),
  }))
  return "done"
}

/** In older revisions of the protocol a server was its own authorization server, sometimes at another path. For such a
 * server only one check is possible: its metadata must come from its own origin. */
async function isOfOldRevision(
  given: Place & {
    sdk: SDK
    wanted: LoginFile.Wanted
  },
): Promise<boolean> {
  const { sdk, server, wanted } = given
  if (wanted.resourceMetadataUrl) return false
  const fetchFn = createBoundedFetch(given)
  const named = await sdk.discoverOAuthProtectedResourceMetadata(server.url!, {}, fetchFn).then(
    () => true,
    () => false,
  )
  if (named) return false
  const { origin } = new URL(server.url!)
  const skipIssuerValidation = true
  const metadata = await sdk
    .discoverAuthorizationServerMetadata(origin, { fetchFn, skipIssuerValidation })
    .catch(() => undefined)
  return metadata !== undefined && URL.canParse(metadata.issuer) && new URL(metadata.issuer).origin === origin
}

/** The stored requirements of the server, else those that it states. Undefined if it needs no login. */
async function findWanted({ server, resolve }: Place): Promise<LoginFile.Wanted | undefined> {
  const noted = LoginFile.get(server.url!).wanted
  if (noted?.scope) return noted
  const client = createMCPClient({ server, ...(resolve ? { resolve } : {}) })
  try {
    await client.connect()
    return undefined
  } catch (error) {
    if (!(error instanceof LoginNeeded)) throw error
    return LoginFile.get(server.url!).wanted ?? {}
  } finally {
    await client.close()
  }
}
