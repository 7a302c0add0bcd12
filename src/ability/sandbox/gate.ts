// The only way out of a boundary: an HTTP proxy of this process, on a socket that is mounted into it.
import { chmodSync, chownSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Check } from "./allowed-domains.ts"
import { gateFolder, proxyPort } from "./launcher.ts"
import type { User } from "./machine.ts"
import type { Policy } from "./policy.ts"

/** Until it is open, its folder is empty inside. */
export type Gate = {
  args: string[]
  env: Record<string, string>
  open(): Promise<void>
  close(): Promise<void>
}

/** Undefined if nothing may be reached. */
export function createGate(
  { allowedDomains }: Policy,
  allowUrl: Check | undefined,
  { drop }: User,
): Gate | undefined {
  if (allowedDomains.length === 0 && !allowUrl) return undefined
  // The paths of sockets are short, and those of our folders may be long.
  const folder = mkdtempSync(join(tmpdir(), "vitamin-"))
  const own = (path: string) => drop && chownSync(path, drop.uid, drop.gid)
  own(folder)
  let closeProxy: (() => Promise<void>) | undefined

  let check: Promise<Check> | undefined

  async function loadCheck(): Promise<Check> {
    return (await import("./allowed-domains.ts")).createCheck(allowedDomains, allowUrl)
  }

  async function judge(url: string) {
    check ??= loadCheck()
    return (await check)(url)
  }

  /** Hosts of a list are checked at once, so that a wrong one is refused. */
  async function open(): Promise<void> {
    if (allowedDomains.length) check = loadCheck()
    await check
    const { createProxy } = await import("#ability/web/proxy.ts")
    const socket = join(folder, "proxy")
    closeProxy = (await createProxy(judge, socket)).close
    chmodSync(socket, 0o600)
    own(socket)
  }

  return {
    args: ["--ro-bind", folder, gateFolder],
    env: variables(allowedDomains),
    open,
    async close() {
      await closeProxy?.()
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
  }
}
