// Reads a resource of an MCP server. It needs the permission `mcp.call` of `server/resource:uri`, so that a rule can
// allow a whole server or one resource.
import { z } from "zod"
import type { MCPResourceContent } from "#ability/mcp/server/types.ts"
import type { Context, Definition, Json } from "#ability/tool/tool.ts"
import type { Ancestry } from "./mcp.ts"

const Address = z.object({ serverName: z.string(), resourceUri: z.string() })
type Address = z.infer<typeof Address>

/** The server must be visible to the session. */
export async function readResource(
  { serverName, resourceUri }: Address,
  { sessionId, whileAsking, signal }: Context,
  ancestry: Ancestry = [sessionId],
): Promise<MCPResourceContent[]> {
  const server = await (await import("./mcp.ts")).get(serverName, ancestry)
  return server.use({ sessionId, whileAsking, signal }, (client) =>
    client.readResource(resourceUri, { signal }),
  )
}

/** The same as a tool, so that the rules judge it and a person can be asked. */
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
