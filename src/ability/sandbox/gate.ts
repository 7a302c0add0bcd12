// The only way out of a boundary: an HTTP proxy of this process, on a socket that is mounted into it.
import { chmodSync, chownSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createProxy } from "#ability/web/proxy.ts"
import { type Check, createCheck } from "./allowed-domains.ts"
import { gateFolder, proxyPort } from "./launcher.ts"
import type { User } from "./machine.ts"
import type { Policy } from "./policy.ts"

export type Gate = { args: string[]; env: Record<string, string>; close(): Promise<void> }

/** Undefined if nothing may be reached. */
export async function openGate(
  { allowedDomains }: Policy,
  allowUrl: Check | undefined,
  { drop }: User,
): Promise<Gate | undefined> {
  if (allowedDomains.length === 0 && !allowUrl) return undefined
  const check = createCheck(allowedDomains, allowUrl)
  // The paths of sockets are short, and those of our folders may be long.
  const folder = mkdtempSync(join(tmpdir(), "vitamin-"))
  const socket = join(folder, "proxy")
  const proxy = await createProxy(check, socket)
  chmodSync(socket, 0o600)
  for (const path of drop ? [folder, socket] : []) chownSync(path, drop!.uid, drop!.gid)
  return {
    args: ["--ro-bind", folder, gateFolder],
    env: variables(allowedDomains),
    async close() {
      await proxy.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** The loopback of the sandbox is its own, so it needs no proxy, unless a name of it was allowed. */
function variables(domains: readonly string[]): Record<string, string> {
  const address = `http://127.0.0.1:${proxyPort}`
  const direct = ["localhost", "127.0.0.1", "::1"].filter(
    (host) => !domains.some((one) => one.includes(host)),
  )
  const names = ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"]
  return {
    ...Object.fromEntries(names.map((name) => [name, address])),
    NO_PROXY: direct.join(","),
    no_proxy: direct.join(","),
    NODE_USE_ENV_PROXY: "1",
  }
}
