// The header x-vitamin-directory: the folder of a request, percent-encoded if it has characters outside ASCII.
import { realpathSync, statSync } from "node:fs"
import { isAbsolute } from "node:path"
import { isAddress } from "#ability/checkout/address.ts"
import { errorCode, errorText } from "#util/error.ts"
import { invalidRequest } from "./refusal.ts"

const place = "header x-vitamin-directory"

/** The real path of the folder in the header, or the address of a project. Throws if it is neither an absolute path of a folder
 * nor an address. */
export function resolveDirectory(header: string): string {
  const path = decode(header)
  if (path.includes("\0")) throw invalidRequest(place, "it has a NUL byte")
  if (isAddress(path)) return path
  if (!isAbsolute(path)) throw invalidRequest(place, `${JSON.stringify(path)} is not an absolute path`)
  try {
    const real = realpathSync(path)
    if (statSync(real).isDirectory()) return real
  } catch (error) {
    const isMissing = errorCode(error) === "ENOENT"
    throw invalidRequest(
      place,
      isMissing ? `the folder ${JSON.stringify(path)} does not exist` : errorText(error),
    )
  }
  throw invalidRequest(place, `${JSON.stringify(path)} is not a directory`)
}

function decode(header: string): string {
  if (!header.includes("%")) return header
  try {
    return decodeURIComponent(header)
  } catch {
    throw invalidRequest(
      place,
      `${JSON.stringify(header)} is not percent-encoded UTF-8 (write a plain % as %25)`,
    )
  }
}
