// Finds references in a text: to files (`@path`, `@path:10`, `@path:10-20`, `@"a path"`, and the same without `@` in an
// option), and to resources of MCP servers (`@server:uri`, `@"server:uri"`). Most words with `@` are neither (people,
// packages, decorators) and stay text: only an existing file, a name with a file ending, or the name of a server counts.
import { isAbsolute, posix, resolve } from "node:path"
import type { Reference, ResourcePart } from "#engine/record/prompt-part.ts"
import { Instance } from "#kernel/instance.ts"
import { statOf } from "#util/file/path-info.ts"
import { isInside } from "#util/file/resolve-inside.ts"
import { nearest } from "#util/nearest.ts"

/** More references than a person writes; a pasted text may have any number. */
const maxFound = 50
const maxLookedAt = 500
const maxPath = 1_000
const maxTrailing = 8

/** A code block. One that is not closed extends to the end. */
const fenced = /^[ \t]*(`{3,}|~{3,}).*?(?:^[ \t]*\1|$(?!.))/gms
const pointer = /(?<![\w.+\-/\\@:=])@(?:"([^"\n]+)"(:\d+(?:-\d+)?)?|([^\s"`<>|*?]+))/g
const trailing = /[.,;:!)\]}'’”»…，。、；：！？）】」]/
const plain = /^[\w./+~@%-]*[\w/~-](?::\d+(?:-\d+)?)?/
const ranged = /^(.+):(\d+)(?:-(\d+))?$/s
const fileName =
  /\.(?:[cm]?[jt]sx?|jsonc?|mdx?|txt|py|rs|go|java|kts?|[ch](?:pp)?|cs|rb|php|swift|sh|ya?ml|toml|xml|html?|s?css|sql|csv|tsv|log|lock|ini|conf|vue|svelte|png|jpe?g|gif|webp|svg|pdf)$/i

const maxResources = 20
const maxUri = 2_000
const maxMisspelt = 3
const maxName = 64
const resourcePointer = /(?<![\w.+\-/\\@:=])@(?:"([^"\n]+)"|([^\s"`<>]+))/g
const resourceEnd = /[.,;:!?)\]}'’”»…，。、；：！？）】」]+$/
const resourceName = /^([\w.-]+):(.+)$/s
const uri = /^[a-z][a-z\d+.-]*:[^\s]/i

/** A word that names no server. `meant`: the word with the nearest server name. */
export type Misspelt = { word: string; serverName: string; meant?: string }
type Found = { resources: ResourcePart[]; misspelt: Misspelt[]; rest: string }

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

/** The reference in an option, `PATH[:A[-B]]`. A file name may itself end like that. */
export function parseReference(text: string): Reference {
  const [, path, first, last] = (!exists(text) && ranged.exec(text)) || []
  if (path === undefined) return referenceTo(text)
  return { ...referenceTo(path), startLine: Number(first), endLine: Number(last ?? first) }
}

/** The reference to a path, resolved from the folder of the instance, else from the root of the work tree. */
export function referenceTo(path: string): Reference {
  const type = "file_reference"
  const atRoot = resolve(Instance.worktree, path)
  if (!isAbsolute(path) && !statOf(resolve(Instance.directory, path)) && statOf(atRoot))
    return { type, path: atRoot }
  // `..` must not be normalised away before the path is refused.
  return { type, path: path.split(/[\\/]/).includes("..") ? path : posix.normalize(path) }
}

/** References to resources: each once, and the text without them and without code blocks. */
export function findResources(text: string, servers: readonly string[]): Found {
  const found = new Map<string, ResourcePart>()
  const misspelt = new Map<string, Misspelt>()
  const rest = text
    .replace(fenced, "")
    .replace(resourcePointer, (whole: string, quoted?: string, bare = "") => {
      // No resource is that long. The limit keeps the search linear.
      if (bare.length > 2 * maxUri) return whole
      const word = quoted ?? bare.replace(resourceEnd, "")
      const resource = found.size < maxResources ? resourceIn(word, servers) : undefined
      if (!resource) {
        const wrong = misspelt.size < maxMisspelt ? misspeltIn(word, servers) : undefined
        if (wrong) misspelt.set(word, wrong)
        return whole
      }
      found.set(word, resource)
      return ""
    })
  return { resources: [...found.values()], misspelt: [...misspelt.values()], rest }
}

/** What a word may mean, the longest first: a sentence may end right after the path, or continue without a space. */
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

/** Whether a missing path was meant as a path: it has a file ending, or its folder exists. An import alias (`@/x`) and
 * `@types/node` only look like paths. */
function isNamed({ path }: Reference): boolean {
  const folder = /^(?!types\/)(.*[^/])\/[^/]+$/s.exec(path)?.[1]
  const isIn = folder !== undefined && statOf(resolve(Instance.directory, folder))?.isDirectory() === true
  return (fileName.test(path) || isIn) && (!isAbsolute(path) || isInside(Instance.worktree, path))
}

function exists(path: string): boolean {
  return statOf(resolve(Instance.directory, path)) !== undefined
}

/** Takes the longest server name that matches: one name may begin with another. */
function resourceIn(word: string, servers: readonly string[]): ResourcePart | undefined {
  const names = servers.filter((name) => word.startsWith(`${name}:`))
  const serverName = names.sort((a, b) => b.length - a.length)[0]
  if (serverName === undefined) return undefined
  const resourceUri = word.slice(serverName.length + 1)
  if (!uri.test(resourceUri) || resourceUri.length > maxUri) return undefined
  return { type: "mcp_resource", serverName, resourceUri }
}

/** `@` and colons occur in many texts. A typo must have the form of a resource, and either nearly the name of a server,
 * or `://` in it. */
function misspeltIn(word: string, servers: readonly string[]): Misspelt | undefined {
  const [, serverName = "", resourceUri = ""] = resourceName.exec(word) ?? []
  if (!serverName || serverName.length > maxName || servers.includes(serverName)) return undefined
  if (!uri.test(resourceUri) || resourceUri.length > maxUri) return undefined
  const near = nearest(serverName, servers)
  if (near !== undefined) return { word, serverName, meant: `${near}:${resourceUri}` }
  return /^[a-z][a-z\d+.-]*:\/\//i.test(resourceUri) ? { word, serverName } : undefined
}
