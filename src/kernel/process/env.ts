// The process environment, and the part of it that child processes get.

import { closeSync, openSync, readFileSync, readSync, writeSync } from "node:fs"
import * as Secret from "#kernel/secret/secret.ts"
import { errorText } from "#util/error.ts"
import { isCredentialName } from "./is-credential-name.ts"
import * as Log from "./log.ts"

/** Variables that every child process needs. VITAMIN_MCP_SERVE keeps an MCP server that its own folder lists from
 * starting itself without end. A base variable is withheld only if its whole value is a secret: a short secret may be
 * a part of a path. */
const base =
  /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_.+|TZ|TERM|TMPDIR|TMP|TEMP|PWD|XDG_.+|DISPLAY|WAYLAND_DISPLAY|NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|SSL_CERT_DIR|SYSTEMROOT|WINDIR|COMSPEC|PATHEXT|APPDATA|LOCALAPPDATA|USERPROFILE|HOMEDRIVE|HOMEPATH|PROGRAMFILES.*|VITAMIN_DATA_DIR|VITAMIN_MCP_SERVE)$/
/** The passphrase of the vault, which is redacted like a key. */
export const vaultPassphrase = "VITAMIN_VAULT_PASSPHRASE"
const proxy = /^((HTTP|HTTPS|ALL|NO)_PROXY|NODE_USE_ENV_PROXY)$/i

/** Positions of `env_start` and `env_end` behind the name of the program in /proc/PID/stat, see proc(5). */
const [startField, endField] = [47, 48]
/** Variables that are overwritten already. */
const hidden = new Set<string>()

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

/** On Linux every process of the same user can read `/proc/PID/environ`, which shows the variables that a process was started
 * with, even after it unset them. That block is our own memory: the values are overwritten there after `setenv` has copied
 * them elsewhere. `process.env` still has them, and a program that we start finds nothing. Does nothing if there is no such
 * file, or it cannot be written. */
function hideVariables(names: readonly string[]): void {
  if (process.platform !== "linux") return
  const next = names.filter((name) => !hidden.has(name))
  if (next.length === 0) return
  for (const name of next) hidden.add(name)
  try {
    overwrite(new Set(next))
  } catch (error) {
    Log.debug("variables of this process stay readable in /proc", { error: errorText(error) })
  }
}

function overwrite(names: ReadonlySet<string>): void {
  const { start, end } = blockOf(readFileSync("/proc/self/stat", "latin1"))
  const memory = openSync("/proc/self/mem", "r+")
  try {
    const block = Buffer.alloc(end - start)
    readSync(memory, block, 0, block.length, start)
    let at = 0
    // One byte is one character in latin1.
    for (const entry of block.toString("latin1").split("\0")) {
      const value = entry.indexOf("=") + 1
      const name = entry.slice(0, value - 1)
      if (value > 0 && names.has(name)) {
        moveAway(name)
        const length = entry.length - value
        writeSync(memory, Buffer.alloc(length), 0, length, start + at + value)
      }
      at += entry.length + 1
    }
  } finally {
    closeSync(memory)
  }
}

/** `setenv` makes a copy of its own. Without it the variable would be empty for us as well. */
function moveAway(name: string): void {
  const value = process.env[name]
  if (value !== undefined) process.env[name] = value
}

function blockOf(stat: string): { start: number; end: number } {
  // The name in parentheses may have blanks and parentheses of its own.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  const [start, end] = [Number(fields[startField]), Number(fields[endField])]
  if (!(start > 0 && end > start && end - start < 1 << 24))
    throw new Error("the address of the environment is not known")
  return { start, end }
}
