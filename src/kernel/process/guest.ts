// Whether this process is the guest of a sandbox. It has no keys, no records and no network of its own.
import { NamedError } from "#util/error.ts"

/** Set by the parent. Nothing outside depends on it. */
export const guestVariable = "VITAMIN_INSIDE"

export function isGuest(): boolean {
  return process.env[guestVariable] === "1"
}

/** Makes `fetch` and Node's clients use the proxy of the sandbox, once. Node can do so at its start, but that takes 18 ms and
 * most prompts never need it. */
export function useProxy(): void {
  if (isProxied || !isGuest()) return
  isProxied = true
  const http: { setGlobalProxyFromEnv?: () => unknown } = process.getBuiltinModule("node:http")
  http.setGlobalProxyFromEnv?.()
}
let isProxied = false

/** For what is kept outside of the sandbox. */
export function refuseInGuest(what: string): void {
  if (isGuest())
    throw new NamedError(
      "Sandbox.Refused",
      `${what} cannot be used in the sandbox, because it is kept outside. Say so to the person.`,
    )
}
