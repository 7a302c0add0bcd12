// Offers the tools of this program as an MCP server would, so that all tools are found and called alike. Calls pass the
// gate.

import type { MCPTool, MCPToolResult } from "#ability/mcp/server/types.ts"
import { runTool, type Slots } from "#ability/tool/run-tool.ts"
import type { Definition, Json } from "#ability/tool/tool.ts"
import * as ToolRegistry from "#ability/tool/tool-registry.ts"
import { createId } from "#util/id.ts"

/** The reserved id of this server. */
export const localId = "local"

export function localTools(): Definition[] {
  return ToolRegistry.list().filter(({ server }) => server === undefined)
}

/** `server/tool`, the target of the permission that a call needs. */
export function placeOf(tool: Definition): string {
  return tool.server === undefined ? `${localId}/${tool.id}` : tool.permission!({})[0]!.target
}

export function toMCPTool(tool: Definition): MCPTool {
  const name = tool.server === undefined ? tool.id : placeOf(tool).slice(tool.server.length + 1)
  return { name, description: tool.description, inputSchema: ToolRegistry.schemaOf(tool) }
}

/** Without slots, only reading in the workspace is allowed. */
export async function callLocalTool(options: {
  name: string
  args: unknown
  slots?: Slots | undefined
}): Promise<MCPToolResult> {
  const { name, args, slots } = options
  const callId = createId("call")
  const result = await runTool({
    call: { id: callId, name, arguments: (args ?? {}) as Json },
    context: { sessionId: "mcp", messageId: "mcp", callId, signal: new AbortController().signal },
    ...(slots ? { slots } : {}),
  })
  return {
    content: [
      { type: "text", text: result.text },
      ...(result.images ?? []).map((image) => ({ type: "image" as const, ...image })),
    ],
    ...(result.data === undefined ? {} : { structuredContent: result.data }),
    isError: result.status !== "success",
  }
}
