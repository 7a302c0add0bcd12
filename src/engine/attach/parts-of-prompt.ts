// Converts the answer of an MCP server to one of its prompts into parts of our prompt.

import type { MCPContent, MCPPromptContent } from "#ability/mcp/mcp.ts"
import type { PromptPart } from "#engine/record/prompt-part.ts"
import { plainText } from "#util/plain-text.ts"

type Messages = MCPPromptContent["messages"]

const maxText = 200_000
const maxParts = 100

/** The most characters of all its texts together. */
export function partsOfPrompt(messages: Messages): PromptPart[] {
  return bounded(messages).map(partOf)
}

function partOf({ role, content }: Messages[number]): PromptPart {
  if (content.type === "image")
    return { type: "image", source: { kind: "base64", value: content.data, mimeType: content.mimeType } }
  const text = textOf(content)
  return { type: "text", text: role === "user" ? text : `[${role}]\n${text}` }
}

function bounded(messages: Messages): Messages {
  let room = maxText
  return messages.slice(0, maxParts).flatMap((message) => {
    if (message.content.type === "image") return [message]
    if (room <= 0) return []
    const text = plainText(textOf(message.content), room)
    room -= text.length
    return [{ ...message, content: { type: "text" as const, text } }]
  })
}

function textOf(content: MCPContent): string {
  switch (content.type) {
    case "text":
      return content.text
    case "resource": {
      const { uri, text, mimeType = "binary" } = content.resource
      return text === undefined ? `[resource ${uri}: ${mimeType}]` : `[resource ${uri}]\n${text}`
    }
    case "resource_link":
      return `[resource ${content.uri}: ${content.name}]`
    default:
      return `[${content.type}: ${content.mimeType}]`
  }
}
