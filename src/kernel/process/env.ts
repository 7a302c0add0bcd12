// The process environment, and the part of it that child processes get.
import { isCredentialName } from "./credential-name.ts"
import { hideVariables } from "./hide-variables.ts"
import * as Secret from "./secret.ts"

/** A child cannot do without these; of ours, the folder of the records and the mark by which a server that is listed in its
 * own folder does not start itself for ever. A short or ordinary secret may well be a part of a path. */
const base =
  /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_.+|TZ|TERM|TMPDIR|TMP|TEMP|PWD|XDG_.+|DISPLAY|WAYLAND_DISPLAY|NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|SSL_CERT_DIR|SYSTEMROOT|WINDIR|COMSPEC|PATHEXT|APPDATA|LOCALAPPDATA|USERPROFILE|HOMEDRIVE|HOMEPATH|PROGRAMFILES.*|VITAMIN_DATA_DIR|VITAMIN_MCP_SERVE)$/
const proxy = /^(HTTP|HTTPS|ALL|NO)_PROXY$/i

export function get(name: string): string | undefined {
  return process.env[name]
}

export function all(): Record<string, string> {
  return pick(() => true)
}

/** The environment of a child process: the person's, without known secrets and without variables that are named like
 * credentials, except those in `pass`. */
export function forChild(pass: readonly string[] = []): Record<string, string> {
  return pick((name, value) => pass.includes(name) || !isWithheld(name, value))
}

/** The same for a command of the model, which must not find the rest in `/proc` either. */
export function forCommand(pass: readonly string[]): Record<string, string> {
  return hiding((name, value) => pass.includes(name) || !isWithheld(name, value))
}

/** The environment of an MCP server beside the variables of its entry. A proxy's address may contain a password. */
export function forServer(): Record<string, string> {
  return hiding(
    (name, value) => (isBase(name) || (proxy.test(name) && !value.includes("@"))) && !isWithheld(name, value),
  )
}

/** Names of variables that commands lose because of their names. Keys for models are left out: no command expects them. */
export function lostByName(pass: readonly string[]): string[] {
  const isForModels = (name: string) => /_API_KEY$/.test(name) && Secret.isHeld(process.env[name] ?? "")
  return Object.keys(process.env)
    .filter((name) => isLostByName(name) && !pass.includes(name) && !isForModels(name))
    .sort()
}

function hiding(fits: (name: string, value: string) => boolean): Record<string, string> {
  const lost: string[] = []
  const picked = pick((name, value) => {
    const isPicked = fits(name, value)
    if (!isPicked && isWithheld(name, value)) lost.push(name)
    return isPicked
  })
  hideVariables(lost)
  return picked
}

function isWithheld(name: string, value: string): boolean {
  if (isBase(name)) return Secret.isHeld(value)
  return isCredentialName(name) || Secret.reveals(value)
}

function isLostByName(name: string): boolean {
  return !isBase(name) && isCredentialName(name)
}

function isBase(name: string): boolean {
  return base.test(process.platform === "win32" ? name.toUpperCase() : name)
}

function pick(fits: (name: string, value: string) => boolean): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && fits(entry[0], entry[1]),
    ),
  )
}
