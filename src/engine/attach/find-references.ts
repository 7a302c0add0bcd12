// Where a person points at files: `@path`, `@path:10`, `@path:10-20`, `@"a path"` in a text, the same without the sign in
// an option. Most words with such a sign are no files (people, packages, decorators) and stay what they are: only what
// exists counts, or has the name of a file.
import { isAbsolute, posix, resolve } from "node:path"
import type { Reference } from "#engine/record/prompt-part.ts"
import { Instance } from "#kernel/instance.ts"
import { isInside } from "#util/file/resolve-inside.ts"
import { statOf } from "#util/file/stat-of.ts"

/** More than a person writes; a text that was pasted may have any number. */
const maxFound = 50
const maxLookedAt = 500
const maxPath = 1_000
const maxTrailing = 8

/** One that is not closed goes on to the end. */
export const fenced = /^[ \t]*(`{3,}|~{3,}).*?(?:^[ \t]*\1|$(?!.))/gms
const pointer = /(?<![\w.+\-/\\@:=])@(?:"([^"\n]+)"(:\d+(?:-\d+)?)?|([^\s"`<>|*?]+))/g
const trailing = /[.,;:!)\]}'’”»…，。、；：！？）】」]/
const plain = /^[\w./+~@%-]*[\w/~-](?::\d+(?:-\d+)?)?/
const ranged = /^(.+):(\d+)(?:-(\d+))?$/s
const fileName =
  /\.(?:[cm]?[jt]sx?|jsonc?|mdx?|txt|py|rs|go|java|kts?|[ch](?:pp)?|cs|rb|php|swift|sh|ya?ml|toml|xml|html?|s?css|sql|csv|tsv|log|lock|ini|conf|vue|svelte|png|jpe?g|gif|webp|svg|pdf)$/i

export function findReferences(text: string): Reference[] {
  const found = new Map<string, Reference>()
  const pointers = text.replace(fenced, "").matchAll(pointer).take(maxLookedAt)
  for (const [, quoted, range = "", bare = ""] of pointers) {
    const reference = quoted ? pick([quoted + range]) : pick(candidates(bare))
    if (reference) found.set(JSON.stringify(reference), reference)
    if (found.size === maxFound) break
  }
  return [...found.values()]
}

/** `PATH[:A[-B]]` as a person gave it on purpose. A file may have such a name itself. */
export function parseReference(text: string): Reference {
  const [, path, first, last] = (!exists(text) && ranged.exec(text)) || []
  if (path === undefined) return referenceTo(text)
  return { ...referenceTo(path), startLine: Number(first), endLine: Number(last ?? first) }
}

/** From the folder of the Instance, or else from the root of the work tree. */
export function referenceTo(path: string): Reference {
  const type = "file_reference"
  const atRoot = resolve(Instance.worktree, path)
  if (!isAbsolute(path) && !statOf(resolve(Instance.directory, path)) && statOf(atRoot))
    return { type, path: atRoot }
  // Segments that lead up must not vanish before they are refused.
  return { type, path: path.split(/[\\/]/).includes("..") ? path : posix.normalize(path) }
}

/** What may be meant by a word, the longest first: a sentence may end with it, or go on without a space. */
function candidates(word: string): string[] {
  if (word.length > maxPath) return []
  const found = [word]
  let end = word.length
  while (end > 0 && trailing.test(word[end - 1]!)) {
    end--
    if (word.length - end <= maxTrailing) found.push(word.slice(0, end))
  }
  const [start] = plain.exec(word) ?? []
  return [...found, ...(start ? [start] : [])]
}

function pick(words: string[]): Reference | undefined {
  const references = words.filter((word) => /[^./]/.test(word)).map(parseReference)
  return references.find(({ path }) => exists(path)) ?? references.findLast(isNamed)
}

/** What does not exist, but was meant to: it has the ending of a file, or lies in a folder that exists. An alias of imports
 * looks like an absolute path, and `@types/node` like a path. */
function isNamed({ path }: Reference): boolean {
  const folder = /^(?!types\/)(.*[^/])\/[^/]+$/s.exec(path)?.[1]
  const isIn = folder !== undefined && statOf(resolve(Instance.directory, folder))?.isDirectory() === true
  return (fileName.test(path) || isIn) && (!isAbsolute(path) || isInside(Instance.worktree, path))
}

function exists(path: string): boolean {
  return statOf(resolve(Instance.directory, path)) !== undefined
}
