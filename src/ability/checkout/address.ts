// The address of a git repository that is a project, and the name of a checkout of it on every machine: the address, or
// for the checkout of a session `ADDRESS#SESSION`.
import { isAbsolute } from "node:path"
import { NamedError } from "#util/error.ts"
import { hashText } from "#util/hash-text.ts"

class InvalidAddress extends NamedError {
  constructor(address: string, reason: string) {
    super(
      "Project.InvalidAddress",
      `${JSON.stringify(address)} cannot be the address of a project: ${reason}. It looks like https://HOST/NAME.git, ssh://git@HOST/NAME.git or file:///FOLDER`,
      { address },
    )
  }
}

const forms = /^(https?|ssh|git|file):\/\//
const scpForm = /^[\w.-]+@[\w.-]+:(?!\/\/)/

export function isAddress(text: string): boolean {
  return forms.test(text) || scpForm.test(text)
}

/** Throws `Project.InvalidAddress` for what git must not be given, and for passwords: records and events have the address. */
export function checkAddress(text: string): string {
  const address = text.trim().replace(/\/+$/, "")
  if (/[\p{Cc}\s#?]/u.test(address) || address.length > 1_000)
    throw new InvalidAddress(text.slice(0, 200), "it has blanks, #, ? or control characters, or is too long")
  if (scpForm.test(address)) return address
  if (!forms.test(address)) throw new InvalidAddress(text, "it is not https, ssh, git or file")
  const url = URL.parse(address)
  if (!url) throw new InvalidAddress(text, "it is not a URL")
  if (url.password || (url.username && url.protocol !== "ssh:"))
    throw new InvalidAddress(
      address.replace(/\/\/[^@/]*@/, "//"),
      "it has a user or a password in it; a credential helper of git on each server can have them",
    )
  if (url.protocol === "file:" && (url.host || !isAbsolute(decodeURIComponent(url.pathname))))
    throw new InvalidAddress(text, "a file address has three slashes and an absolute path")
  if (url.protocol !== "file:" && (!url.hostname || url.hostname.startsWith("-")))
    throw new InvalidAddress(text, "it has no host")
  return address
}

/** The name of a checkout, in its parts. */
export function parsePlace(place: string): { address: string; sessionId: string | undefined } {
  const [, address = place, sessionId] = /^([^#]*)(?:#([\w-]{1,100}))?$/.exec(place) ?? []
  return { address: checkAddress(address), sessionId }
}

export function idOf(address: string): string {
  return hashText(`git ${address}`).slice(0, 40)
}
