// Finds references to resources of MCP servers: `@server:uri`, `@"server:uri"`. Only words that begin with the name
// of a server count; others stay text, and likely typos are reported.

import type { ResourcePart } from "#engine/record/prompt-part.ts"
import { nearest } from "#util/nearest.ts"
import { fenced } from "./find-references.ts"

const maxFound = 20
const maxUri = 2_000
const maxMisspelt = 3
const maxName = 64
const pointer = /(?<![\w.+\-/\\@:=])@(?:"([^"\n]+)"|([^\s"`<>]+))/g
const trailing = /[.,;:!?)\]}'’”»…，。、；：！？）】」]+$/
const uri = /^[a-z][a-z\d+.-]*:[^\s]/i
const named = /^([\w.-]+):(.+)$/s

/** A word that names no server. `meant`: the word with the nearest server name. */
export type Misspelt = { word: string; serverName: string; meant?: string }
type Found = { resources: ResourcePart[]; misspelt: Misspelt[]; rest: string }

/** Each resource once, and the text without them and without code blocks. */
export function findResources(text: string, servers: readonly string[]): Found {
  const found = new Map<string, ResourcePart>()
  const misspelt = new Map<string, Misspelt>()
  const rest = text.replace(fenced, "").replace(pointer, (whole: string, quoted?: string, bare = "") => {
    // Longer than any resource. The limit keeps the search linear.
    if (bare.length > 2 * maxUri) return whole
    const word = quoted ?? bare.replace(trailing, "")
    const resource = found.size < maxFound ? resourceIn(word, servers) : undefined
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

/** The longest name that matches: one name may begin like another. */
function resourceIn(word: string, servers: readonly string[]): ResourcePart | undefined {
  const names = servers.filter((name) => word.startsWith(`${name}:`))
  const serverName = names.sort((a, b) => b.length - a.length)[0]
  if (serverName === undefined) return undefined
  const resourceUri = word.slice(serverName.length + 1)
  if (!uri.test(resourceUri) || resourceUri.length > maxUri) return undefined
  return { type: "mcp_resource", serverName, resourceUri }
}

/** `@` and colons occur in many texts. A typo must have the form of a resource, and either nearly the name of a
 * server or `://`. */
function misspeltIn(word: string, servers: readonly string[]): Misspelt | undefined {
  const [, serverName = "", resourceUri = ""] = named.exec(word) ?? []
  if (!serverName || serverName.length > maxName || servers.includes(serverName)) return undefined
  if (!uri.test(resourceUri) || resourceUri.length > maxUri) return undefined
  const near = nearest(serverName, servers)
  if (near !== undefined) return { word, serverName, meant: `${near}:${resourceUri}` }
  return /^[a-z][a-z\d+.-]*:\/\//i.test(resourceUri) ? { word, serverName } : undefined
}
