// Sends requests of this process through the proxy of the environment, by Node's own means. Servers on this machine are always
// reached directly.

import { Unusable } from "#ability/provider/reach/errors.ts"
import * as Env from "#kernel/process/env.ts"
import { errorText } from "#util/error.ts"

const direct = ["localhost", "127.0.0.1-127.255.255.254", "[::1]", "::1"]

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

/** For callers with an agent of their own. */
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
