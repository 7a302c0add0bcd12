// The directory that an instance works in, without links.
import { realpathSync, statSync } from "node:fs"
import { resolve } from "node:path"
import { errorText, NamedError } from "#util/error.ts"

class InvalidDirectory extends NamedError {
  constructor(directory: string, reason: string) {
    super("Instance.InvalidDirectory", `Directory ${JSON.stringify(directory)} cannot be used: ${reason}`, {
      directory,
    })
  }
}

/** The real path of a directory. Throws `Instance.InvalidDirectory` for anything else. */
export function realDirectory(directory: string): string {
  if (directory.includes("\0")) throw new InvalidDirectory(directory, "it has a NUL byte")
  try {
    const real = realpathSync.native(resolve(directory))
    if (statSync(real).isDirectory()) return real
  } catch (error) {
    throw new InvalidDirectory(directory, errorText(error))
  }
  throw new InvalidDirectory(directory, "it is not a directory")
}
