// One client for one MCP server, over stdio or http, in the newest revision of the protocol that both sides know. It
// connects when it is first used. No type of the SDK leaves this folder.
import { EventEmitter, on } from "node:events"
import type { CacheableRequestOptions, Client, ContentBlock } from "@modelcontextprotocol/client"
import { InvalidServer } from "#ability/mcp/server/errors.ts"
import { registerSecrets } from "#ability/mcp/server/normalize-server.ts"
import type {
  MCPClient,
  MCPClientConfig,
  MCPContent,
  MCPListOptions,
  MCPPrompt,
  MCPResource,
  MCPResourceContent,
  MCPTool,
} from "#ability/mcp/server/types.ts"
import { type Connection, isLegacy } from "./connection.ts"
import { createLink } from "./create-link.ts"

export function createMCPClient(config: MCPClientConfig): MCPClient {
  if (config.features?.sampling && !config.onSample)
    throw new InvalidServer(config.server, "sampling is turned on, and there is no onSample to answer it")
  const link = createLink(config)
  registerSecrets(config.server)
  const { call } = link

  /** Lists are always requested from the server, never taken from the SDK's cache. */
  const listing = <T extends object>(
    method: string,
    { onTtl, ...options }: MCPListOptions,
    work: (client: Client, request: CacheableRequestOptions) => Promise<T>,
  ) =>
    call(method, options, async (client, request) => {
      const result = await work(client, { ...request, cacheMode: "refresh" })
      const { ttlMs } = result as { ttlMs?: unknown }
      if (typeof ttlMs === "number") onTtl?.(ttlMs)
      return result
    })

  return Object.freeze<MCPClient>({
    server: config.server,
    connect: async (options = {}) => (await link.get(options.signal)).info,
    status: link.status,
    close: link.close,

    async listTools(options = {}) {
      const list = await listing("tools/list", options, (client, request) =>
        client.listTools(undefined, request),
      )
      return list.tools as MCPTool[]
    },
    callTool: (name, args = {}, options = {}) =>
      call("tools/call", options, async (client, request) => {
        const { traceparent } = options
        const meta = traceparent ? { _meta: { traceparent } } : {}
        const result = await client.callTool({ name, arguments: args, ...meta }, request)
        return {
          content: result.content.map(readContent),
          ...(result.structuredContent === undefined ? {} : { structuredContent: result.structuredContent }),
          isError: result.isError ?? false,
        }
      }),

    async listResources(options = {}) {
      const list = await listing("resources/list", options, (client, request) =>
        client.listResources(undefined, request),
      )
      return list.resources as MCPResource[]
    },
    async listResourceTemplates(options = {}) {
      const list = await listing("resources/templates/list", options, (client, request) =>
        client.listResourceTemplates(undefined, request),
      )
      return list.resourceTemplates as Awaited<ReturnType<MCPClient["listResourceTemplates"]>>
    },
    readResource: (uri, options = {}) =>
      call("resources/read", options, async (client, request) => {
        const { contents } = await client.readResource({ uri }, request)
        return contents.map(readResourceContent)
      }),
    subscribe: (uri) => watchResource(() => link.get(), uri),

    async listPrompts(options = {}) {
      const list = await listing("prompts/list", options, (client, request) =>
        client.listPrompts(undefined, request),
      )
      return list.prompts as MCPPrompt[]
    },
    getPrompt: (name, args = {}, options = {}) =>
      call("prompts/get", options, async (client, request) => {
        const { description, messages } = await client.getPrompt({ name, arguments: args }, request)
        return {
          ...(description === undefined ? {} : { description }),
          messages: messages.map(({ role, content }) => ({ role, content: readContent(content) })),
        }
      }),
    complete: ({ of, argument, given }, options = {}) =>
      call("completion/complete", options, async (client, request) => {
        if (config.features?.completions === false || !client.getServerCapabilities()?.completions) return []
        const ref =
          "prompt" in of
            ? { type: "ref/prompt" as const, name: of.prompt }
            : { type: "ref/resource" as const, uri: of.resourceTemplate }
        const { completion } = await client.complete(
          { ref, argument, ...(given ? { context: { arguments: given } } : {}) },
          request,
        )
        return completion.values
      }),
  })
}

/** Yields at each change of a resource until the caller leaves the loop. Old and new revisions of the protocol differ
 * in how a client subscribes; the notifications are the same. */
async function* watchResource(
  getConnection: () => Promise<Connection>,
  uri: string,
): AsyncGenerator<{ uri: string }> {
  const { client, updates } = await getConnection()
  const emitter = new EventEmitter()
  const ending = new AbortController()
  // Listens before it subscribes, so that no change is missed.
  const changes = on(emitter, "change", { signal: ending.signal })
  const listener = (changed: string) => void (changed === uri && emitter.emit("change"))
  updates.add(listener)
  const stop = isLegacy(client)
    ? await client.subscribeResource({ uri }).then(() => () => client.unsubscribeResource({ uri }))
    : await client.listen({ resourceSubscriptions: [uri] }).then((subscription) => () => subscription.close())
  try {
    for await (const _ of changes) yield { uri }
  } finally {
    updates.delete(listener)
    ending.abort()
    await Promise.resolve(stop()).catch(() => {})
  }
}

/** Protocol content as our plain values; annotations and icons are dropped. */
function readContent(block: ContentBlock): MCPContent {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text }
    case "image":
    case "audio":
      return { type: block.type, data: block.data, mimeType: block.mimeType }
    case "resource":
      return { type: "resource", resource: readResourceContent(block.resource) }
    case "resource_link": {
      const { uri, name, description, mimeType } = block
      return {
        type: "resource_link",
        uri,
        name,
        ...(description === undefined ? {} : { description }),
        ...(mimeType === undefined ? {} : { mimeType }),
      }
    }
  }
}

function readResourceContent(content: {
  uri: string
  mimeType?: string | undefined
  text?: string
  blob?: string
}): MCPResourceContent {
  const { uri, mimeType, text, blob } = content
  return {
    uri,
    ...(mimeType === undefined ? {} : { mimeType }),
    ...(text === undefined ? {} : { text }),
    ...(blob === undefined ? {} : { blob }),
  }
}
