// The process environment, and the part of it that child processes get.

import * as Secret from "#kernel/secret/secret.ts"
import { hideVariables } from "./hide-variables.ts"

/** Variables that every child process needs. VITAMIN_MCP_SERVE keeps an MCP server that its own folder lists from
 * starting itself without end. A base variable is withheld only if its whole value is a secret: a short secret may be
 * a part of a path. */
const base =
  /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_.+|TZ|TERM|TMPDIR|TMP|TEMP|PWD|XDG_.+|DISPLAY|WAYLAND_DISPLAY|NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|SSL_CERT_DIR|SYSTEMROOT|WINDIR|COMSPEC|PATHEXT|APPDATA|LOCALAPPDATA|USERPROFILE|HOMEDRIVE|HOMEPATH|PROGRAMFILES.*|VITAMIN_DATA_DIR|VITAMIN_MCP_SERVE)$/
const proxy = /^(HTTP|HTTPS|ALL|NO)_PROXY$/i

/** Anywhere in a name, also at the end of a longer word: `PGPASSWORD`, `authToken`. */
const credentialWord = /(token|secret|secrets|password|passwd|passphrase|apikey|credential|credentials)$/
/** Only as the last word: `DB_PASS`, `GITHUB_PAT`, `CONSUL_HTTP_AUTH`. */
const credentialEnd = new Set("key keys pass pwd pat auth authorization jwt creds cred sshpass".split(" "))
/** Two words together, whatever follows: `AWS_ACCESS_KEY_ID`, `PRIVATE_KEY_PEM`. */
const credentialPair = /(^|_)((access|api|private|secret|signing|encryption|master)_key|auth_config)(_|$)/
/** A key of these kinds is meant to be seen. */
const publicKey = new Set("public publishable cache sort primary partition foreign".split(" "))
const describing = new Set(
  "file path dir directory home url uri endpoint host limit count ttl expiry expires timeout type name arn enabled helper sock".split(
    " ",
  ),
)
/** Shells and prompts set these for everybody; they are no secrets. */
const noCredential = new Set(["PWD", "OLDPWD", "STARSHIP_SESSION_KEY"])

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

/** Like `forChild`, for a command of the model: it must not find the withheld variables in `/proc` either. */
export function forCommand(pass: readonly string[]): Record<string, string> {
  return hiding((name, value) => pass.includes(name) || !isWithheld(name, value))
}

/** The environment of an MCP server beside the variables of its entry. A proxy's address may contain a password. */
export function forServer(): Record<string, string> {
  return hiding(
    (name, value) => (isBase(name) || (proxy.test(name) && !value.includes("@"))) && !isWithheld(name, value),
  )
}

/** The variables that are withheld from commands because of their names. Keys for models are left out: no command
 * expects them. */
export function lostByName(pass: readonly string[]): string[] {
  const isForModels = (name: string) => /_API_KEY$/.test(name) && Secret.isKnown(process.env[name] ?? "")
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
  if (isBase(name)) return Secret.isKnown(value)
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

/** Whether a variable is named like a credential: a token, a key, a password. Names such as `…_FILE`, `…_URL` and
 * `…_TTL` describe a credential but are not one. */
export function isCredentialName(name: string): boolean {
  const words = wordsOf(name)
  const end = words.at(-1) ?? ""
  if (describing.has(end) || noCredential.has(name)) return false
  if (words.some((word) => credentialWord.test(word))) return true
  if (!credentialEnd.has(end) && !credentialPair.test(words.join("_"))) return false
  return !(words.some((word) => /^keys?$/.test(word)) && words.some((word) => publicKey.has(word)))
}

/** `ORG_GRADLE_PROJECT_signingKey` has the words org, gradle, project, signing and key. */
function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z\d])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter(Boolean)
}
