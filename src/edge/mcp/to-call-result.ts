// Converts a result of the gate into an MCP result: text, images, and structured data if it contains the whole result.
import type { CallToolResult } from "@modelcontextprotocol/server"
import type { Result } from "#ability/tool/run-tool.ts"
import type { Definition, Json } from "#ability/tool/tool.ts"

export function toCallResult(tool: Definition, { status, text, data, images = [] }: Result): CallToolResult {
  return {
    content: [
      ...(text || !images.length ? [{ type: "text" as const, text }] : []),
      ...images.map(({ data, mimeType }) => ({ type: "image" as const, data, mimeType })),
    ],
    ...(isObject(data) && isComplete(tool, text, data) ? { structuredContent: data } : {}),
    ...(status === "success" ? {} : { isError: true }),
  }
}

export function errorResult(text: string): CallToolResult {
  return { content: [{ type: "text", text }], isError: true }
}

/** Some clients show a model the data instead of the text. The data of most built-in tools is only metadata, so it is
 * sent only if it equals the text or comes from another MCP server. */
function isComplete({ server }: Definition, text: string, data: Json): boolean {
  return server !== undefined || text === JSON.stringify(data)
}

function isObject(data: Json | undefined): data is { [name: string]: Json } {
  return typeof data === "object" && data !== null && !Array.isArray(data)
}
