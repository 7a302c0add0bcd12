// Converts a result of the gate for the protocol: text, images, and data if it says the same as the text.
import type { CallToolResult } from "@modelcontextprotocol/server"
import type { Result } from "#ability/tool/run-tool.ts"
import type { Definition, Json } from "#ability/tool/tool.ts"

export function toCallResult(tool: Definition, { status, text, data, images = [] }: Result): CallToolResult {
  return {
    content: [
      ...(text || !images.length ? [{ type: "text" as const, text }] : []),
      ...images.map(({ data, mimeType }) => ({ type: "image" as const, data, mimeType })),
    ],
    ...(isObject(data) && saysAll(tool, text, data) ? { structuredContent: data } : {}),
    ...(status === "success" ? {} : { isError: true }),
  }
}

export function errorResult(text: string): CallToolResult {
  return { content: [{ type: "text", text }], isError: true }
}

/** Some clients show a model the data and not the text; with most tools the data are only notes on it. */
function saysAll({ server }: Definition, text: string, data: Json): boolean {
  return server !== undefined || text === JSON.stringify(data)
}

function isObject(data: Json | undefined): data is { [name: string]: Json } {
  return typeof data === "object" && data !== null && !Array.isArray(data)
}
