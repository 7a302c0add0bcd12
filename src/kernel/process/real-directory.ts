// The real path of a directory that an instance is asked for.
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

/** Throws `Instance.InvalidDirectory` for a path that is no directory. */
export function realDirectory(directory: string): string {
  if (directory.includes("\0")) throw new InvalidDirectory(directory, "it has a NUL byte")
  try {
    const real = realpathSync(resolve(directory))
    if (statSync(real).isDirectory()) return real
  } catch (error) {
    throw new InvalidDirectory(directory, errorText(error))
  }
  throw new InvalidDirectory(directory, "it is not a directory")
}
