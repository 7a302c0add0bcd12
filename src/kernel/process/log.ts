// Log lines with levels on stderr or in a file, never on stdout. Known secrets are redacted, control characters
// escaped. Warnings and errors on stderr are plain sentences, unless the person asked for a log.
import { appendFileSync } from "node:fs"
import * as Secret from "#kernel/secret/secret.ts"

export const levels = ["debug", "info", "warn", "error"] as const
export type Level = (typeof levels)[number]
export type Fields = Record<string, unknown>

let threshold: Level = isLevel(process.env.VITAMIN_LOG?.toLowerCase()) ?? "warn"
let file: string | undefined

/** Accepts any case. An unknown level is refused, and the one in force stays. */
export function setLevel(level: string): void {
  const known = isLevel(level.toLowerCase())
  if (!known) throw new RangeError(`Log level "${level}" does not exist. Available: ${levels.join(", ")}`)
  threshold = known
}

/** Send lines to a file instead of stderr; undefined goes back to stderr. */
export function setFile(path: string | undefined): void {
  file = path
}

export function enabled(level: Level): boolean {
  return levels.indexOf(level) >= levels.indexOf(threshold)
}

export function debug(message: string, fields?: Fields): void {
  write("debug", message, fields)
}

export function info(message: string, fields?: Fields): void {
  write("info", message, fields)
}

export function warn(message: string, fields?: Fields): void {
  write("warn", message, fields)
}

export function error(message: string, fields?: Fields): void {
  write("error", message, fields)
}

function write(level: Level, message: string, fields: Fields = {}) {
  if (!enabled(level)) return
  if (!file) return void process.stderr.write(enabled("info") ? logLine() : plainLine())
  try {
    appendFileSync(file, logLine(), { mode: 0o600 })
  } catch {
    process.stderr.write(logLine())
  }

  function logLine(): string {
    const pairs = Object.entries(fields).map(([name, value]) => ` ${name}=${show(value)}`)
    return `${new Date().toISOString()} ${level.toUpperCase().padEnd(5)} ${safe(message + pairs.join(""))}\n`
  }

  /** `warning: the index could not be read: no space left (file: a.db)` */
  function plainLine(): string {
    const { error: reason, ...rest } = fields
    const because = reason === undefined ? "" : `: ${reason instanceof Error ? reason.message : reason}`
    const pairs = Object.entries(rest).map(([name, value]) => `${name}: ${show(value)}`)
    const start = level === "warn" ? "warning" : level
    return `${start}: ${safe(message + because + (pairs.length ? ` (${pairs.join(", ")})` : ""))}\n`
  }
}

function safe(text: string): string {
  return escapeControls(Secret.redactForAll(text))
}

function show(value: unknown): string {
  if (value instanceof Error)
    return JSON.stringify(threshold === "debug" ? (value.stack ?? value.message) : value.message)
  if (typeof value === "string") return /^[\w./:@-]+$/.test(value) ? value : JSON.stringify(value)
  try {
    return JSON.stringify(value) ?? String(value)
  } catch {
    return String(value)
  }
}

/** A message cannot forge a second line or control the terminal. */
export function escapeControls(text: string): string {
  return text.replace(
    /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`,
  )
}

function isLevel(level: string | undefined): Level | undefined {
  return levels.find((known) => known === level)
}
