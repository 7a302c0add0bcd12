// A resource of a configured server. Reading one needs `mcp.call` of `server/resource:uri`, so that one rule for a server
// holds for its tools and its resources, and each can have a rule of its own.
import { z } from "zod"
import type { MCPResourceContent } from "#ability/mcp/server/types.ts"
import type { Context, Definition, Json } from "#ability/tool/tool.ts"
import type { Line } from "./mcp.ts"

const Address = z.object({ serverName: z.string(), resourceUri: z.string() })
type Address = z.infer<typeof Address>

/** For a session of a line that sees the server. */
export async function readResource(
  { serverName, resourceUri }: Address,
  { sessionId, whileAsking, signal }: Context,
  line: Line = [sessionId],
): Promise<MCPResourceContent[]> {
  const server = await (await import("./mcp.ts")).get(serverName, line)
  return server.use({ sessionId, whileAsking, signal }, (client) =>
    client.readResource(resourceUri, { signal }),
  )
}

/** The same as a call that rules judge and a person can be asked for. */
export const resourceTool = Object.freeze<Definition>({
  id: "resource",
  description: "Read a resource of an MCP server.",
  category: "api",
  parameters: Address,
  readOnly: true,
  permission(args) {
    const { serverName, resourceUri } = Address.parse(args)
    return [{ permission: "mcp.call", target: `${serverName}/resource:${resourceUri}` }]
  },
  execute: async (args, context) => (await readResource(Address.parse(args), context)) as Json,
})
