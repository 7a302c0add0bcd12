// What a boundary lets through, and what it reports about itself.
import { homedir } from "node:os"
import { dirname, join, resolve } from "node:path"
import { NamedError } from "#util/error.ts"
import { realOf } from "#util/file/path-info.ts"

export type Policy = {
  /** The working folder. Relative paths start here. */
  directory: string
  /** Folders and files that may be written. Missing ones are created as folders. */
  allowWrite: string[]
  /** Paths that cannot be read. Our own folders are always among them. */
  denyRead: string[]
  /** Paths that can be read although a folder around them is hidden. */
  show?: string[] | undefined
  /** `example.com`, `*.example.com`, or with a port; only the last form reaches private addresses. */
  allowedDomains: string[]
  /** Megabytes. */
  memory?: number | undefined
  /** With their threads. Default: 2,000. */
  processes?: number | undefined
  /** Milliseconds until everything inside is ended. */
  timeout?: number | undefined
}

export type Status = {
  isolated: boolean
  pid?: number
  by?: "bubblewrap" | "sandbox-runtime"
  /** What enforces the limits of memory and processes. */
  limits?: "cgroup" | "rlimit"
  /** The user whose rights the program has. */
  user?: string
  /** Sentences about missing parts, and how to get them. */
  missing: string[]
}

/** What a path names that cannot be a place of the sandbox, or a machine that cannot isolate. */
export class NotIsolated extends NamedError {
  constructor(reason: string) {
    super("Sandbox.NotIsolated", `The sandbox did not start: ${reason}`)
  }
}

/** The real path that a setting names; of a missing one, the real path of the folders that exist. */
export function placeOf(path: string, directory: string): string {
  if (/[*?[\]\0]/.test(path))
    throw new NotIsolated(`${JSON.stringify(path)} has a wildcard; name the path itself.`)
  const home = path === "~" || path.startsWith("~/") ? join(homedir(), path.slice(1)) : path
  return realPlace(resolve(directory, home))
}

function realPlace(path: string): string {
  const parent = dirname(path)
  return realOf(path) ?? (parent === path ? path : join(realPlace(parent), path.slice(parent.length)))
}
