// Finds files that usually have secrets in the words of a command: `cat .env`, `curl -d @.env`, `cat *.pem`. Patterns are
// expanded as the shell would, or wider. Only words are checked, so this is a guard rail, not a boundary.
import { readdirSync } from "node:fs"
import { isAbsolute, join, relative, resolve } from "node:path"
import { fitsText } from "#util/wildcard.ts"
import { isSecretFile } from "./is-secret-file.ts"
import { pathsIn } from "./own-configuration.ts"
import { withMoves } from "./shell/outside-targets.ts"
import { withoutQuotedPatterns } from "./shell/quoted-patterns.ts"
import { splitCommand } from "./shell/split-command.ts"

/** A line that names more patterns, or folders with more files, counts as one that reads secrets. */
const maxEntries = 10_000
const maxFound = 50
const expands = /[$*?{}[\]]/
const hole = /\$\{[^}]*\}|\$\w+|\{[^}]*\}|\[[^\]]*\]|[$*?{}[\]]/g
const isOnlyVariable = /^\$(\w+|\{\w+\})$/
const isAddress = /^(https?|wss?|ftp|ssh|git):\/\//

/** `folder`: where the command starts. The paths are absolute. */
export function secretsIn(command: string, folder: string): string[] {
  const words = new Set(pathsIn(command).flatMap(candidates))
  const found = new Set<string>()
  for (const word of words) if (isSecretFile(word)) found.add(resolve(folder, word))
  const patterns = new Set(pathsIn(withoutQuotedPatterns(command)).filter(isPattern))
  if (patterns.size) {
    const { folders } = withMoves(splitCommand(command).commands, { folders: [folder], worktree: folder })
    const left = { entries: maxEntries }
    for (const pattern of patterns)
      for (const start of folders)
        for (const path of expand(pattern, start, left))
          if (isSecretFile(isAbsolute(pattern) ? path : relative(start, path))) found.add(path)
    if (left.entries < 0) found.add(resolve(folder, [...patterns].at(-1)!))
  }
  return [...found].slice(0, maxFound)
}

/** `-d@.env`, `file=@.env`, `HEAD:.env`, `{a,.env}` */
function candidates(word: string): string[] {
  if (isAddress.test(word)) return []
  const parts = word.split(/[@:,{}]/)
  return [word, ...parts, ...parts.flatMap((part) => /^-[A-Za-z](.+)/s.exec(part)?.[1] ?? [])].filter(Boolean)
}

function isPattern(word: string): boolean {
  return expands.test(word) && !isOnlyVariable.test(word) && !isAddress.test(word)
}

/** The files and folders that a pattern may name. */
function expand(pattern: string, start: string, left: { entries: number }): string[] {
  const names = pattern.replace(/^.*@/, "").split("/")
  let places = [names[0] === "" ? "/" : start]
  for (const name of names.filter(Boolean)) {
    if (expands.test(name)) places = places.flatMap((place) => within(place, name, left))
    else places = places.map((place) => join(place, name))
  }
  return places
}

function within(folder: string, name: string, left: { entries: number }): string[] {
  if (left.entries < 0) return []
  const mayBeHidden = /^[.${]/.test(name)
  const text = name.replace(hole, "*")
  const names = namesIn(folder)
  left.entries -= names.length + 1
  return names
    .filter((one) => (mayBeHidden || !one.startsWith(".")) && fitsText(text, one))
    .map((one) => join(folder, one))
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
