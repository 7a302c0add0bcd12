// Provides what the SDK's login flow needs: our identity, and storage for tokens and secrets of the flow.
import { randomBytes } from "node:crypto"
import type { OAuthClientProvider, OAuthDiscoveryState } from "@modelcontextprotocol/client"
import { LoginFailed, LoginNeeded } from "#ability/mcp/server/errors.ts"
import type { MCPServerConfig } from "#ability/mcp/server/types.ts"
import * as LoginFile from "./login-file.ts"

export type LoginProvider = OAuthClientProvider & {
  /** The page that the person has to open, once it is known. Its redirect must carry `expectedState`. */
  destination(): URL | undefined
  expectedState: string
}

export function createLoginProvider(options: {
  server: MCPServerConfig
  redirectUrl: string
  /** If false, an unregistered client throws `LoginNeeded`. */
  mayRegister: boolean
}): LoginProvider {
  const { server, redirectUrl, mayRegister } = options
  const url = server.url!
  const { clientId, token: clientSecret } = server.auth ?? {}
  // A client id that is a URL names our metadata document, which the authorization server fetches.
  const document = clientId?.startsWith("https://") ? clientId : undefined
  const expectedState = randomBytes(16).toString("hex")
  let verifier = ""
  let discovered: OAuthDiscoveryState | undefined
  let destination: URL | undefined
  const of = (issuer: string | undefined) => {
    const login = LoginFile.get(url)
    const key = issuer ?? login.issuer
    return key === undefined ? undefined : login.issuers[key]
  }
  const save = (issuer: string, part: LoginFile.Login["issuers"][string], latest = false) =>
    LoginFile.update(url, (login) => ({
      ...login,
      issuers: { ...login.issuers, [issuer]: { ...login.issuers[issuer], ...part } },
      ...(latest ? { issuer } : {}),
    }))
  return {
    redirectUrl,
    expectedState,
    destination: () => destination,
    ...(document ? { clientMetadataUrl: document } : {}),
    clientMetadata: {
      client_name: "vitamin",
      redirect_uris: [redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
    },
    state: () => expectedState,
    clientInformation(context) {
      if (clientId && !document)
        return { client_id: clientId, ...(clientSecret ? { client_secret: clientSecret } : {}) }
      const client = of(context?.issuer)?.client
      if (!mayRegister) {
        if (!client) throw new LoginNeeded(server)
        return client
      }
      // Registered for another port.
      const uris = (client as { redirect_uris?: string[] } | undefined)?.redirect_uris
      return uris && !uris.includes(redirectUrl) ? undefined : client
    },
    saveClientInformation: (client, context) => save(context?.issuer ?? client.issuer ?? "", { client }),
    tokens: (context) => of(context?.issuer)?.tokens,
    saveTokens: (tokens, context) => save(context?.issuer ?? tokens.issuer ?? "", { tokens }, true),
    redirectToAuthorization(to) {
      if (!mayRegister) throw new LoginNeeded(server)
      destination = to
    },
    saveCodeVerifier(value) {
      verifier = value
    },
    codeVerifier() {
      if (!verifier) throw new LoginFailed(server, "it was not begun here")
      return verifier
    },
    // A flow begins and ends in this process, so its state is kept here.
    saveDiscoveryState(state) {
      discovered = state
    },
    discoveryState: () => discovered,
    async invalidateCredentials(what) {
      if (what === "verifier" || what === "discovery") return
      await LoginFile.update(url, (login) => ({
        ...login,
        issuers: Object.fromEntries(
          Object.entries(login.issuers).map(([issuer, { client }]) => [
            issuer,
            what === "tokens" && client ? { client } : {},
          ]),
        ),
      }))
    },
  }
}
