// The tool for the resources and prompts of a server: `query` searches them, `uri` reads a resource, `prompt` gets the
// text of a prompt. Reading needs the permission `mcp.call` of `server/resource:uri` or `server/prompt:name`.
import { z } from "zod"
import type { MCPContent } from "#ability/mcp/server/types.ts"
import { outputOf } from "#ability/tool/server-output.ts"
import { serverToolId } from "#ability/tool/server-tools.ts"
import type { Context, Definition, Output } from "#ability/tool/tool.ts"
import { NamedError } from "#util/error.ts"
import { insideTag } from "#util/parse/inside-tag.ts"
import { plainText } from "#util/plain-text.ts"
import type { ConfiguredServer } from "./configured-server.ts"
import type { Manifest } from "./manifest.ts"

const Parameters = z
  .strictObject({
    query: z.string().optional().describe("what to look for"),
    uri: z.string().optional().describe("a resource to read"),
    prompt: z.string().optional().describe("a prompt whose text to get"),
    arguments: z.record(z.string(), z.string()).optional().describe("of the prompt"),
  })
  .refine(({ query, uri, prompt }) => query?.trim() || uri || prompt, {
    path: ["query"],
    message: "expected what to look for, a uri or a prompt",
  })
type Args = z.infer<typeof Parameters>

const maxNames = 12
const maxName = 60
const maxFound = 10
const maxLine = 300

export function offerTool(one: ConfiguredServer, manifest: Manifest): Definition {
  const { id: server } = one.server
  const name = manifest.tools.some((tool) => tool.name === "resources") ? "mcp_resources" : "resources"
  return Object.freeze<Definition>({
    id: serverToolId(server, name),
    description: describe(server, manifest),
    category: "api",
    parameters: Parameters,
    server,
    readOnly: true,
    permission(given) {
      const { query, uri, prompt } = given as Args
      if (uri) return [{ permission: "mcp.call", target: `${server}/resource:${uri}` }]
      if (prompt) return [{ permission: "mcp.call", target: `${server}/prompt:${prompt}` }]
      // A search only shows names of the manifest.
      return query ? [] : [{ permission: "mcp.call", target: `${server}/resource:` }]
    },
    execute: (given, context) => run(one, given as Args, context),
  })
}

function describe(server: string, { resources, templates, prompts }: Manifest): string {
  const all = [...resources, ...templates, ...prompts].map(({ name }) => plainText(name, maxName))
  const names = [...new Set(all)]
  const more = names.length > maxNames ? `, and ${names.length - maxNames} more` : ""
  const kinds = [
    ...(resources.length + templates.length ? ["resources (documents, data)"] : []),
    ...(prompts.length ? ["prompts"] : []),
  ].join(" and ")
  return `Find (query) and read (uri, prompt) what ${server} has beside tools: ${kinds}: ${names.slice(0, maxNames).join(", ")}${more}.`
}

async function run(one: ConfiguredServer, args: Args, context: Context): Promise<Output> {
  const { sessionId, whileAsking, signal } = context
  const caller = { sessionId, signal, ...(whileAsking ? { whileAsking } : {}) }
  if (args.uri) return read(one, args.uri, caller)
  if (args.prompt) return promptText(one, args, caller)
  return search(one, args.query!, context.findOffers)
}

type Caller = Parameters<ConfiguredServer["use"]>[0]

async function read(one: ConfiguredServer, uri: string, caller: Caller): Promise<Output> {
  const contents = await one.use(caller, (client) =>
    client.readResource(uri, caller.signal ? { signal: caller.signal } : {}),
  )
  const content = contents.map((resource): MCPContent => ({ type: "resource", resource }))
  const { text, images } = outputOf({ content, isError: false })
  return {
    text: insideTag("resource", text, { server: one.server.id, uri }),
    title: uri,
    ...(images ? { images } : {}),
  }
}

async function promptText(one: ConfiguredServer, { prompt, ...args }: Args, caller: Caller): Promise<Output> {
  const { id } = one.server
  if (!one.manifest()?.prompts.some(({ name }) => name === prompt))
    throw new NamedError(
      "MCP.UnknownOffer",
      `The server "${id}" has no prompt ${JSON.stringify(prompt)}. A search with "query" gives the names.`,
    )
  const { messages } = await one.use(caller, (client) => client.getPrompt(prompt!, args.arguments ?? {}))
  const { text, images } = outputOf({ content: messages.map(({ content }) => content), isError: false })
  return {
    text: insideTag("prompt", text, { server: id, name: prompt! }),
    title: prompt!,
    ...(images ? { images } : {}),
  }
}

/** Without an index, the first resources and prompts are shown. */
async function search(one: ConfiguredServer, query: string, find: Context["findOffers"]): Promise<Output> {
  const all = one.manifest()
  const { resources, prompts } = find
    ? await find(query, { limit: maxFound, server: one.server.id })
    : { resources: all?.resources.slice(0, maxFound) ?? [], prompts: all?.prompts.slice(0, maxFound) ?? [] }
  const templates = fitting(all?.templates ?? [], query).slice(0, maxFound)
  const line = (key: string, value: string, words: (string | undefined)[]) =>
    plainText(`${key}: ${value} (${words.filter(Boolean).join("; ")})`, maxLine).replaceAll("\n", " ")
  const lines = [
    ...resources.map(({ uri, name, title, description, mimeType }) =>
      line("uri", uri, [title ?? name, description, mimeType]),
    ),
    ...templates.map(({ uriTemplate, name, title, description }) =>
      line("uri template", uriTemplate, [title ?? name, description]),
    ),
    ...prompts.map(({ name, title, description, arguments: known = [] }) =>
      line("prompt", name, [
        title,
        description,
        known.length ? `arguments: ${known.map((arg) => arg.name).join(", ")}` : undefined,
      ]),
    ),
  ]
  return {
    text: lines.join("\n") || "Nothing fits. Try other words.",
    title: `${query} (${lines.length})`,
    data: { found: [...resources.map(({ uri }) => uri), ...prompts.map(({ name }) => name)] },
  }
}

/** Templates that contain words of the query, most words first. They are not in the index. */
function fitting(templates: Manifest["templates"], query: string): Manifest["templates"] {
  const words = new Set(query.toLowerCase().match(/[\p{L}\p{N}]{2,}/gu))
  const scored = templates.map((item) => {
    const said = Object.values(item).join(" ").toLowerCase()
    return { item, score: [...words].filter((word) => said.includes(word)).length }
  })
  return scored
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .map(({ item }) => item)
}
