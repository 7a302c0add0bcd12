// Where a person points at resources of MCP servers: `@server:uri`, `@"server:uri"`. Only what begins with the name of a
// server counts; all else stays what it is.
import { fenced } from "./find-references.ts"
import type { ResourcePart } from "./prompt-part.ts"

const maxFound = 20
const maxUri = 2_000
const pointer = /(?<![\w.+\-/\\@:=])@(?:"([^"\n]+)"|([^\s"`<>]+))/g
const trailing = /[.,;:!?)\]}'’”»…，。、；：！？）】」]+$/
const uri = /^[a-z][a-z\d+.-]*:[^\s]/i

/** Each once, and the text without them and without blocks of code. */
export function findResources(
  text: string,
  servers: readonly string[],
): { resources: ResourcePart[]; rest: string } {
  const found = new Map<string, ResourcePart>()
  const rest = text.replace(fenced, "").replace(pointer, (whole: string, quoted?: string, bare = "") => {
    const word = quoted ?? bare.replace(trailing, "")
    const resource = found.size < maxFound ? resourceIn(word, servers) : undefined
    if (!resource) return whole
    found.set(word, resource)
    return ""
  })
  return { resources: [...found.values()], rest }
}

/** The longest name that fits: one may begin like another. */
function resourceIn(word: string, servers: readonly string[]): ResourcePart | undefined {
  const names = servers.filter((name) => word.startsWith(`${name}:`))
  const serverName = names.sort((a, b) => b.length - a.length)[0]
  if (serverName === undefined) return undefined
  const resourceUri = word.slice(serverName.length + 1)
  if (!uri.test(resourceUri) || resourceUri.length > maxUri) return undefined
  return { type: "mcp_resource", serverName, resourceUri }
}
