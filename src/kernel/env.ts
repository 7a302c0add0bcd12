// The process environment, read through one door.
import * as Secret from "./secret.ts"

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
  return Object.fromEntries(Object.entries(all()).filter(([, value]) => !Secret.reveals(value)))
}
