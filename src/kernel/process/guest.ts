// Whether this process is the guest of a sandbox. It has no keys, no records and no network of its own.
import { NamedError } from "#util/error.ts"

/** Set by the parent. Nothing outside depends on it. */
export const guestVariable = "VITAMIN_INSIDE"

export function isGuest(): boolean {
  return process.env[guestVariable] === "1"
}

/** For what is kept outside of the sandbox. */
export function refuseInGuest(what: string): void {
  if (isGuest())
    throw new NamedError(
      "Sandbox.Refused",
      `${what} cannot be used in the sandbox, because it is kept outside. Say so to the person.`,
    )
}
