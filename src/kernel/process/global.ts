// Our folders on this machine: the XDG folders, or their defaults if a variable is unset or relative.
import { homedir, userInfo } from "node:os"
import { isAbsolute, join, normalize } from "node:path"
import { NamedError } from "#util/error.ts"

/** The folder for records that must not be lost. `VITAMIN_DATA_DIR` replaces the whole path. */
export function data(): string {
  const own = process.env.VITAMIN_DATA_DIR
  return own && isAbsolute(own) ? possible("VITAMIN_DATA_DIR", own) : folder("XDG_DATA_HOME", ".local/share")
}

/** The configuration of the person: `vitamin.jsonc`. */
export function config(): string {
  return folder("XDG_CONFIG_HOME", ".config")
}

/** Files that can be made again. */
export function cache(): string {
  return folder("XDG_CACHE_HOME", ".cache")
}

/** Files that belong to this machine: the token of the server, its event log. */
export function state(): string {
  return folder("XDG_STATE_HOME", ".local/state")
}

/** The last result for each variable: every call of a tool asks for several of these folders. */
const known = new Map<string, { set: string | undefined; base: string; path: string }>()

function folder(variable: string, fallback: string): string {
  const set = process.env[variable]
  const isSet = set !== undefined && isAbsolute(set)
  const base = isSet ? set : homedir()
  const before = known.get(variable)
  if (before?.set === set && before?.base === base) return before.path
  const path = join(isSet ? possible(variable, set) : join(usableHome(base), fallback), "vitamin")
  known.set(variable, { set, base, path })
  return path
}

/** Refuses folders below /proc: nothing can be created there, and Node's recursive `mkdir` would never return. */
function possible(variable: string, path: string): string {
  if (/^\/proc(\/|$)/.test(normalize(path)))
    throw new NamedError(
      "Global.NoFolder",
      `${variable} is ${path}, and no folder can be made below /proc. Set it to another folder, or unset it.`,
      { variable, path },
    )
  return path
}

/** The home folder, even if HOME is empty or relative: our folders would be in the current folder otherwise. */
function usableHome(home: string): string {
  return isAbsolute(home) ? home : userInfo().homedir
}
