// Content of the protocol as plain values of ours; what it carries beside (annotations, icons) stays behind.
import type { ContentBlock } from "@modelcontextprotocol/client"
import type { MCPContent, MCPResourceContent } from "#ability/mcp/server/types.ts"

export function readContent(block: ContentBlock): MCPContent {
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

export function readResourceContent(content: {
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
