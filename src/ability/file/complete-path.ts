// Completes a path while a person types it: files and folders of the workspace whose path has the typed letters in order,
// the best first. Ignored files come last.
import { Instance } from "#kernel/instance.ts"
import * as Ripgrep from "#knowledge/grounding/ripgrep.ts"

export type Completion = { path: string; isIgnored: boolean }
type Found = { at: number; names: Promise<string[]> }

/** The most files that a list has. */
const maxSeen = 200_000
/** Milliseconds for which a list is used again: a person types several letters a second. */
const freshFor = 3_000
const maxLetters = 200

const lists = Instance.state(() => new Map<string, Found>())

/** At most `limit` paths from the folder of the instance. A folder ends with a slash. */
export async function completePath(typed: string, limit: number): Promise<Completion[]> {
  const letters = typed.toLowerCase().replaceAll("\\", "/").replace(/^\.\//, "").slice(0, maxLetters)
  const own = best(await namesOf([]), letters, limit).map((path) => ({ path, isIgnored: false }))
  if (own.length >= limit || letters === "") return own
  const known = new Set(own.map(({ path }) => path))
  const all = best(await namesOf(["--no-ignore"]), letters, limit + known.size)
  const ignored = all.filter((path) => !known.has(path)).map((path) => ({ path, isIgnored: true }))
  return [...own, ...ignored].slice(0, limit)
}

function namesOf(args: string[]): Promise<string[]> {
  const key = args.join(" ")
  const known = lists().get(key)
  if (known && performance.now() - known.at < freshFor) return known.names
  const names = listNames(args)
  lists().set(key, { at: performance.now(), names })
  return names
}

/** Files, and the folders that they are in. */
async function listNames(args: string[]): Promise<string[]> {
  const names = new Set<string>()
  let seen = 0
  await Ripgrep.run({
    args: ["--files", "--null", "--no-messages", "--no-require-git", "--hidden", "--glob=!.git", ...args],
    cwd: Instance.directory,
    separator: "\0",
    onPiece: (file) => {
      names.add(file)
      for (let end = file.lastIndexOf("/"); end > 0; end = file.lastIndexOf("/", end - 1)) {
        const folder = file.slice(0, end + 1)
        if (names.has(folder)) break
        names.add(folder)
      }
      return ++seen < maxSeen
    },
  })
  return [...names]
}

function best(names: string[], letters: string, limit: number): string[] {
  const scored = names.flatMap((name) => {
    const score = scoreOf(name, letters)
    return score === undefined ? [] : [{ name, score }]
  })
  return scored
    .sort((a, b) => b.score - a.score || a.name.length - b.name.length || (a.name < b.name ? -1 : 1))
    .slice(0, limit)
    .map(({ name }) => name)
}

/** Higher is better; undefined if a letter is missing. The words in one piece beat scattered letters, the name of the file
 * beats its folders, a short path beats a long one. */
function scoreOf(name: string, letters: string): number | undefined {
  const text = name.toLowerCase()
  const base = text.slice(text.lastIndexOf("/", text.length - 2) + 1)
  const depth = text.split("/").length
  if (letters === "") return -depth
  const place = base.indexOf(letters)
  if (place >= 0) return (place === 0 ? 3_000 : 2_000) - base.length - depth
  if (text.includes(letters)) return 1_500 - text.length
  const inBase = spread(base, letters)
  const inText = inBase ?? spread(text, letters)
  if (inText === undefined) return undefined
  return (inBase === undefined ? 0 : 1_000) - inText - depth
}

/** How many other letters stand between the typed ones; undefined if one is missing. Starts of words are preferred. */
function spread(text: string, letters: string): number | undefined {
  let at = -1
  let gaps = 0
  for (const letter of letters) {
    const next = text.indexOf(letter, at + 1)
    if (next < 0) return undefined
    if (at >= 0) gaps += /[/._-]/.test(text[next - 1] ?? "") ? 1 : next - at - 1
    at = next
  }
  return gaps
}
