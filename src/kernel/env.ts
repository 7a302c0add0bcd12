// The process environment, read through one door.
import * as Secret from "./secret.ts"

// A child cannot do without these; a short or ordinary secret may well be a part of a path.
const needed = /^(PATH|HOME|SHELL|USER|LANG|LC_.+|TERM|TMPDIR|PWD|XDG_.+)$/

export function get(name: string): string | undefined {
  return process.env[name]
}

export function all(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
}

/** What a child process gets: the person's environment without the secrets that we hold. */
export function forChild(): Record<string, string> {
  return Object.fromEntries(Object.entries(all()).filter(([name, value]) => !isSecret(name, value)))
}

function isSecret(name: string, value: string): boolean {
  return needed.test(name) ? Secret.isHeld(value) : Secret.reveals(value)
}
