// What the environment says about providers: their keys, which are redacted, and the proxy for their requests.
import { Unusable } from "#ability/provider/reach/errors.ts"
import { providers } from "#ability/provider/reach/providers.ts"
import * as Env from "#kernel/process/env.ts"
import * as SecretFiles from "#kernel/process/secret-files.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { errorText } from "#util/error.ts"

/** Secrets of the accounts of clouds. */
const accountSecrets = [
  ...["AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_CONTAINER_AUTHORIZATION_TOKEN"],
  ...["GOOGLE_VERTEX_API_KEY", "AZURE_CLIENT_SECRET", "IDENTITY_HEADER"],
]
const direct = ["localhost", "127.0.0.1-127.255.255.254", "[::1]", "::1"]

/** Sends requests of this process through the proxy, with Node's own support. Servers on this machine are always
 * reached directly. */
export async function useProxy(): Promise<void> {
  const proxy = proxyOfEnvironment()
  if (!proxy) return
  const { setGlobalProxyFromEnv } = await import("node:http")
  try {
    setGlobalProxyFromEnv(proxy)
  } catch (error) {
    throw new Unusable("proxy", `HTTP_PROXY or HTTPS_PROXY is not a proxy's URL (${errorText(error)})`)
  }
}

/** The proxy settings of the environment, for callers with their own HTTP agent. */
export function proxyOfEnvironment(): Record<string, string> | undefined {
  const [http, https] = [either("HTTP_PROXY"), either("HTTPS_PROXY")]
  if (!http && !https) return undefined
  return {
    ...(http ? { HTTP_PROXY: http } : {}),
    ...(https ? { HTTPS_PROXY: https } : {}),
    NO_PROXY: [either("NO_PROXY"), ...direct].filter(Boolean).join(","),
  }
}

function either(name: string): string | undefined {
  return Env.get(name.toLowerCase()) || Env.get(name) || undefined
}

/** The keys of all providers, used or not, because a command or a model can print any key of the environment; the passphrase
 * of the vault, opened or not; and the keys, logins and the token in our files. */
export function redactKeys(): void {
  for (const [id, { env }] of Object.entries(providers))
    for (const name of env) Secret.register(Env.get(name)?.trim(), `${id} key`)
  for (const name of accountSecrets) Secret.register(Env.get(name)?.trim(), "account key")
  Secret.register(Env.get(Env.vaultPassphrase), "vault passphrase")
  SecretFiles.register()
}
