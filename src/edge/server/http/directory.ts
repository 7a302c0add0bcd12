// The header x-vitamin-directory: the folder of a request, percent-encoded if it has characters outside ASCII.
import { realpathSync, statSync } from "node:fs"
import { isAbsolute } from "node:path"
import { errorText } from "#util/error.ts"
import { invalidRequest } from "./refusal.ts"

const place = "header x-vitamin-directory"

/** The real path of the folder in the header. Throws if it is not an absolute path of a folder. */
export function resolveDirectory(header: string): string {
  const path = decode(header)
  if (path.includes("\0")) throw invalidRequest(place, "it has a NUL byte")
  if (!isAbsolute(path)) throw invalidRequest(place, `${JSON.stringify(path)} is not an absolute path`)
  try {
    const real = realpathSync(path)
    if (statSync(real).isDirectory()) return real
  } catch (error) {
    throw invalidRequest(place, errorText(error))
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
