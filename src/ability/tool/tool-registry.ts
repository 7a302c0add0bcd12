// The registry of tools: built-in ones, those defined for every Instance, and those of the current one. The forms for
// models are built once and in one order, so that equal requests are equal bytes and prompt caches stay valid.
import { z } from "zod"
import * as AgentRegistry from "#ability/agent/agent-registry.ts"
import type { Definition } from "#ability/call/types.ts"
import { NotRepresentable, type ToolSchema, zodToToolSchema } from "#ability/call/zod-to-tool-schema.ts"
import schemas from "#ability/tool/builtin/schemas.json" with { type: "json" }
import { Instance } from "#kernel/instance.ts"
import { NamedError } from "#util/error.ts"
import { nearest } from "#util/nearest.ts"
import { builtin } from "./builtin-tools.ts"
import { mayUse } from "./may-use.ts"
import type { ToolServer } from "./server-tools.ts"

/** A tool as `doStream` of a model takes it. */
export type ModelTool = { type: "function"; name: string; description: string; inputSchema: ToolSchema }
type Known = {
  tools: Map<string, Definition>
  forms: Map<string, readonly ModelTool[]>
  /** The tools of each MCP server, before names that collide are made unique. */
  servers: Map<string, Definition[]>
  /** Set after a change: names are made unique at the next lookup, for all servers at once. */
  nameApart?: typeof import("./server-tools.ts").nameApart | undefined
  version: number
}

/** Servers can have hundreds of tools. */
const maxNamed = 60

export class NotFound extends NamedError {
  constructor(id: string, available: string[]) {
    const near = nearest(id, available)
    const more = available.length - maxNamed
    const named = [...available.slice(0, maxNamed), ...(more > 0 ? [`and ${more} more`] : [])].join(", ")
    super(
      "Tool.NotFound",
      `Tool ${JSON.stringify(id)} does not exist. Available: ${named}${near ? `. Did you mean "${near}"?` : ""}`,
      { id, available, ...(near ? { nearest: near } : {}) },
    )
  }
}

const builtinById: ReadonlyMap<string, Definition> = new Map(
  Object.values(builtin).map((tool) => [tool.id, tool]),
)
const defaults: Known = {
  tools: new Map(builtinById),
  forms: new Map(),
  servers: new Map(),
  version: 0,
}
const ofInstance = Instance.state<Known>(() => {
  const { tools, servers } = named(defaults)
  return { tools: new Map(tools), forms: new Map(), servers: new Map(servers), version: 0 }
})

/** Add a tool to the current Instance, or outside one to all later Instances. The last definition of a name wins. */
export function register(definition: Definition): void {
  const parameters = strict(definition.parameters)
  if (zodToToolSchema(parameters).type !== "object")
    throw new NotRepresentable(`the parameters of "${definition.id}" must be one object`)
  const own = known()
  own.tools.set(definition.id, Object.freeze({ ...definition, parameters }))
  own.forms.clear()
  own.version++
}

/** Replace the tools of an MCP server, if they are still wanted once they are known. Returns a line for each tool
 * that cannot be offered. */
export async function loadFromMCP(server: ToolServer, isWanted = () => true): Promise<string[]> {
  const { nameApart, toolsOf } = await import("./server-tools.ts")
  const { tools, problems } = toolsOf(server, await server.listTools())
  const offers = await server.offerTool?.()
  if (!isWanted()) return problems
  const own = knownNow()
  own.servers.set(server.server.id, offers ? [...tools, offers] : tools)
  Object.assign(own, { nameApart, version: own.version + 1 })
  return problems
}

/** Remove the tools of an MCP server. */
export async function removeFromMCP(serverId: string): Promise<void> {
  const { nameApart } = await import("./server-tools.ts")
  const own = knownNow()
  if (own.servers.delete(serverId)) Object.assign(own, { nameApart, version: own.version + 1 })
}

/** The tool with that name. An unknown name throws `Tool.NotFound`. */
export function get(id: string): Definition {
  const tool = find(id)
  if (!tool) throw new NotFound(id, allIds())
  return tool
}

/** The tool with that name, if it exists. */
export function find(id: string): Definition | undefined {
  return known().tools.get(id)
}

/** All tools, sorted by id. */
export function list(): Definition[] {
  return allIds().map(get)
}

/** A number that changes when a tool may have been added, removed or changed. */
export function version(): number {
  return knownNow().version
}

/** Whether it is a built-in tool, or replaces one. */
export function isBase({ id, server }: Definition): boolean {
  return server === undefined && builtinById.has(id)
}

/** The tools that an agent may use. An unknown agent throws `Agent.NotFound`. */
export function forAgent(agentId: string): Definition[] {
  const agent = AgentRegistry.get(agentId)
  return list().filter((tool) => mayUse(agent, tool))
}

/** The `tools` object of the AI SDK. Without `execute`: calls go through `runTool` and nowhere else. */
export function toAISDKTools(
  ids: string[] = allIds(),
): Record<string, { description: string; inputSchema: z.ZodType }> {
  const tools = sorted(ids).map(get)
  return Object.fromEntries(
    tools.map(({ id, description, parameters, inputSchema: given }) => [
      id,
      { description, inputSchema: given ? parameters.meta(given) : parameters },
    ]),
  )
}

/** The parameters as JSON Schema for models. */
export function schemaOf(tool: Definition): ToolSchema {
  if (tool.inputSchema) return tool.inputSchema
  // Converting a schema takes too long at start, so built-in ones are generated.
  const drawn =
    builtinById.get(tool.id) === tool ? (schemas as Record<string, ToolSchema>)[tool.id] : undefined
  return drawn ?? zodToToolSchema(tool.parameters)
}

/** The tools as a model's `doStream` takes them; the same array for the same ids. */
export function toModelTools(ids: string[] = allIds()): readonly ModelTool[] {
  const { forms } = known()
  const names = sorted(ids)
  const key = names.join(",")
  let form = forms.get(key)
  if (!form) {
    form = Object.freeze(names.map((id) => toModelTool(get(id))))
    forms.set(key, form)
  }
  return form
}

function toModelTool(tool: Definition): ModelTool {
  const { id, description } = tool
  return Object.freeze({ type: "function", name: id, description, inputSchema: schemaOf(tool) })
}

function allIds(): string[] {
  return [...known().tools.keys()].sort()
}

function sorted(ids: string[]): string[] {
  return [...new Set(ids)].sort()
}

/** Extra arguments are an error, even if the schema's author did not say so. */
function strict(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodObject) return schema.def.catchall ? schema : schema.strict()
  return schema
}

function known(): Known {
  return named(knownNow())
}

function knownNow(): Known {
  return Instance.isProvided ? ofInstance() : defaults
}

/** With the tools of servers, each under a unique name. */
function named(own: Known): Known {
  const { nameApart, tools, forms, servers } = own
  if (!nameApart) return own
  own.nameApart = undefined
  for (const [id, tool] of tools) if (tool.server !== undefined) tools.delete(id)
  for (const tool of nameApart([...servers.values()].flat(), new Set(tools.keys()))) tools.set(tool.id, tool)
  forms.clear()
  return own
}
