// The lists of a server: tools, resources, resource templates, prompts. Entries of the wrong shape are left out. If the list
// of tools cannot be read, the server has failed; another list that cannot be read is only reported as a problem.
import type {
  MCPClient,
  MCPPrompt,
  MCPResource,
  MCPResourceTemplate,
  MCPServerInfo,
  MCPTool,
} from "#ability/mcp/server/types.ts"
import { errorText } from "#util/error.ts"

export type ListMethod = keyof typeof lists

export type Offers = {
  tools: MCPTool[]
  resources: MCPResource[]
  templates: MCPResourceTemplate[]
  prompts: MCPPrompt[]
  /** Milliseconds for which all lists are valid, if the server states them. */
  ttl?: number
  /** What went wrong with its lists. */
  problems?: string[]
}
type Entry = Record<string, unknown>

const maxDepth = 500

const lists = {
  "tools/list": { key: "tools", name: "name", read: readTool },
  "resources/list": { key: "resources", name: "uri", read: readResource },
  "resources/templates/list": { key: "resourceTemplates", name: "uriTemplate", read: readTemplate },
  "prompts/list": { key: "prompts", name: "name", read: readPrompt },
} as const

/** Reads the lists that the server announces. */
export async function listOffers(client: MCPClient, { capabilities }: MCPServerInfo): Promise<Offers> {
  const problems: string[] = []
  const orNone = (error: unknown) => {
    problems.push(errorText(error))
    return []
  }
  let ttl = Number.POSITIVE_INFINITY
  const options = {
    onTtl(ms: number) {
      ttl = Math.min(ttl, ms)
    },
  }
  const [tools, resources, templates, prompts] = await Promise.all([
    capabilities.tools ? client.listTools(options) : [],
    capabilities.resources ? client.listResources(options).catch(orNone) : [],
    // Many servers have none and do not know the method.
    capabilities.resources ? client.listResourceTemplates(options).catch(() => []) : [],
    capabilities.prompts ? client.listPrompts(options).catch(orNone) : [],
  ])
  return {
    tools,
    resources,
    templates,
    prompts,
    ...(Number.isFinite(ttl) ? { ttl } : {}),
    ...(problems.length ? { problems } : {}),
  }
}

export function isListMethod(method: string): method is ListMethod {
  return Object.hasOwn(lists, method)
}

/** Removes unusable entries from a page. `names` has the names of earlier pages, and gets the new ones. */
export function cleanList(options: {
  method: ListMethod
  result: Record<string, unknown>
  names: Set<string>
  room: number
  warn: (message: string) => void
}): Record<string, unknown> {
  const { method, result, names, room, warn } = options
  const { key, name, read } = lists[method]
  const given = result[key]
  if (!Array.isArray(given)) return result
  const kept: Entry[] = []
  for (const entry of given) {
    if (names.size >= room) break
    const clean = isObject(entry) ? read(entry) : undefined
    const own = clean?.[name]
    if (!clean || !isName(own)) warn(`${method}: an entry was left out: ${show(entry)}`)
    else if (names.has(own)) warn(`${method}: ${show(own)} is listed twice; the first is used`)
    else {
      names.add(own)
      kept.push(clean)
    }
  }
  return { ...result, [key]: kept }
}

/** Names with control characters are refused, because they would reach terminals. */
function isName(value: unknown): value is string {
  return typeof value === "string" && /^[^\u0000-\u001f\u007f-\u009f]{1,4096}$/.test(value)
}

function readTool(entry: Entry): Entry | undefined {
  const { inputSchema, outputSchema, annotations } = entry
  if (!isObject(inputSchema) || (inputSchema.type ?? "object") !== "object") return undefined
  if (isDeep(inputSchema) || isDeep(outputSchema)) return undefined
  return {
    ...texts(entry, ["name", "title", "description"]),
    inputSchema: { ...inputSchema, type: "object" },
    ...(isObject(outputSchema) ? { outputSchema } : {}),
    ...(isObject(annotations) ? { annotations: hints(annotations) } : {}),
  }
}

function readResource(entry: Entry): Entry {
  const { size } = entry
  return {
    ...texts(entry, ["uri", "name", "title", "description", "mimeType"]),
    name: typeof entry.name === "string" ? entry.name : entry.uri,
    ...(typeof size === "number" ? { size } : {}),
  }
}

function readTemplate(entry: Entry): Entry {
  return {
    ...texts(entry, ["uriTemplate", "name", "title", "description", "mimeType"]),
    name: typeof entry.name === "string" ? entry.name : entry.uriTemplate,
  }
}

function readPrompt(entry: Entry): Entry {
  const args = Array.isArray(entry.arguments) ? entry.arguments.filter(isObject) : undefined
  return {
    ...texts(entry, ["name", "title", "description"]),
    ...(args
      ? {
          arguments: args
            .filter(({ name }) => typeof name === "string")
            .map((one) => ({
              ...texts(one, ["name", "description"]),
              ...(typeof one.required === "boolean" ? { required: one.required } : {}),
            })),
        }
      : {}),
  }
}

function hints(annotations: Entry): Entry {
  return Object.fromEntries(
    Object.entries(annotations).filter(([name, value]) =>
      name === "title" ? typeof value === "string" : typeof value === "boolean",
    ),
  )
}

function texts(entry: Entry, names: string[]): Entry {
  return Object.fromEntries(
    names.filter((name) => typeof entry[name] === "string").map((name) => [name, entry[name]]),
  )
}

function isObject(value: unknown): value is Entry {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

/** Code that reads schemas recurses, so a very deep schema would overflow the stack. */
function isDeep(value: unknown): boolean {
  let level = [value]
  for (let depth = 0; level.length; depth++) {
    if (depth > maxDepth) return true
    level = level.flatMap((one) => (typeof one === "object" && one !== null ? Object.values(one) : []))
  }
  return false
}

function show(value: unknown): string {
  const text = isDeep(value) ? "(too deep)" : (JSON.stringify(value) ?? "undefined")
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}
