// One client for one MCP server, over stdio or http, in the newest revision of the protocol that both sides know. It
// connects by itself when it is first used. The SDK stays inside.
import * as Secret from "#kernel/secret.ts"
import { createLink } from "./keep-connected.ts"
import { isCredential } from "./normalize-server.ts"
import { readContent, readResourceContent } from "./read-content.ts"
import { runCall } from "./run-call.ts"
import type { MCPCallOptions, MCPClient, MCPClientConfig, MCPPrompt, MCPResource, MCPTool } from "./types.ts"
import { watchResource } from "./watch-resource.ts"

type Call = Parameters<typeof runCall>[0]

export function createMCPClient(config: MCPClientConfig): MCPClient {
  const link = createLink(config)
  holdSecrets(config)
  const call = <T>(
    method: string,
    options: MCPCallOptions,
    work: (...args: Parameters<Call["work"]>) => Promise<T>,
  ) => runCall<T>({ link, config, method, options, work })

  return Object.freeze<MCPClient>({
    server: config.server,
    connect: async (options = {}) => (await link.get(options.signal)).info,
    status: link.status,
    close: link.close,

    listTools: (options = {}) =>
      call("tools/list", options, async (client, request) => {
        const { tools } = await client.listTools(undefined, request)
        return tools as MCPTool[]
      }),
    callTool: (name, args = {}, options = {}) =>
      call("tools/call", options, async (client, request) => {
        const result = await client.callTool({ name, arguments: args }, request)
        return {
          content: result.content.map(readContent),
          ...(result.structuredContent === undefined ? {} : { structuredContent: result.structuredContent }),
          isError: result.isError ?? false,
        }
      }),

    listResources: (options = {}) =>
      call("resources/list", options, async (client, request) => {
        const { resources } = await client.listResources(undefined, request)
        return resources as MCPResource[]
      }),
    listResourceTemplates: (options = {}) =>
      call("resources/templates/list", options, async (client, request) => {
        const { resourceTemplates } = await client.listResourceTemplates(undefined, request)
        return resourceTemplates as Awaited<ReturnType<MCPClient["listResourceTemplates"]>>
      }),
    readResource: (uri, options = {}) =>
      call("resources/read", options, async (client, request) => {
        const { contents } = await client.readResource({ uri }, request)
        return contents.map(readResourceContent)
      }),
    subscribe: (uri) => watchResource(() => link.get(), uri),

    listPrompts: (options = {}) =>
      call("prompts/list", options, async (client, request) => {
        const { prompts } = await client.listPrompts(undefined, request)
        return prompts as MCPPrompt[]
      }),
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

/** What headers and addresses carry to prove who we are must not show up anywhere. */
function holdSecrets({ server }: MCPClientConfig) {
  for (const [name, value] of Object.entries(server.headers ?? {}))
    if (isCredential(name)) Secret.hold(value.replace(/^\w+ /, ""), `${server.id} ${name}`)
  for (const [name, value] of URL.parse(server.url ?? "")?.searchParams ?? [])
    if (isCredential(name)) Secret.hold(value, `${server.id} ${name}`)
  Secret.hold(server.auth?.token, `${server.id} token`)
}
