// Finds commands and rules that name our files with keys and tokens (`SecretFiles`). Only the words of a command are
// checked, so this is a guard rail, not a boundary. The output of commands is redacted in any case.
import * as SecretFiles from "#kernel/process/secret-files.ts"
import { fitsText, hasWildcard, readPath } from "#util/wildcard.ts"
import { pathsIn } from "./own-configuration.ts"
import { isFile, type Rule } from "./rule.ts"

/** Characters that the shell expands. */
const hole = /\$\{[^}]*\}|\$\w+|\{[^}]*\}|\[[^\]]*\]|[$*?{}[\]]/g
const maxWord = 4_096

/** Whether a command names one of these files, or could name it through a pattern or a variable. */
export function mentionsSecrets(command: string): boolean {
  const places = SecretFiles.places()
  const words = pathsIn(command)
  // Joined again, because a path with a blank is two words here.
  const text = words.join(" ").toLowerCase()
  const unsure = words.filter(isUnsure).map((word) => word.toLowerCase())
  return places.some(({ path }) => includesPath(text, path) || couldLead(unsure, path))
}

/** Whether a rule names these files: its path leads to them before its first wildcard, or it is one exact command. */
export function namesSecrets({ permission, pattern }: Rule, worktree: string | undefined): boolean {
  if (permission === "bash.execute") return !hasWildcard(pattern) || mentionsSecrets(pattern)
  if (!isFile(permission)) return false
  const { segments } = readPath(pattern, worktree)
  const wild = segments.findIndex(hasWildcard)
  return SecretFiles.isSecret(`/${(wild < 0 ? segments : segments.slice(0, wild)).join("/")}`)
}

function includesPath(text: string, place: string): boolean {
  for (let at = text.indexOf(place); at >= 0; at = text.indexOf(place, at + 1))
    if (!/[\w-]/.test(text[at + place.length] ?? "")) return true
  return false
}

/** A path that the shell still has to expand. */
function isUnsure(word: string): boolean {
  return word.includes("/") && word.length <= maxWord && /[$*?{}[]/.test(word)
}

function couldLead(words: string[], place: string): boolean {
  if (!words.length) return false
  const names = place.split("/").filter(Boolean)
  // `${STATE:-…}/vitamin/token`: its beginning is unknown, but its end is plain.
  const ends = [`/${names.slice(-2).join("/")}`, `/${names.at(-1)}/token`]
  return words.some((word) => {
    if (/[$}]/.test(word) && ends.some((end) => includesPath(word, end))) return true
    if (!word.startsWith("/")) return false
    const patterns = word.split("/").filter(Boolean)
    if (patterns.length < names.length) return false
    return names.every((name, i) => fitsText(patterns[i]!.replace(hole, "*"), name))
  })
}
