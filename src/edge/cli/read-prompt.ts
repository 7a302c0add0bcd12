// `--prompt SERVER/NAME key=value …`: what an MCP server offers to say, as the prompt of the person.
import { getPrompt, InvalidArguments, PromptNotFound } from "#ability/mcp/get-prompt.ts"
import * as Mcp from "#ability/mcp/mcp.ts"
import type { MCPContent, MCPPromptContent } from "#ability/mcp/types.ts"
import { plainText } from "#ability/tool/plain-text.ts"
import type * as Session from "#engine/session/session.ts"
import { UsageError } from "./exit.ts"

type Messages = MCPPromptContent["messages"]

const argument = /^([\w.-]+)=(.*)$/s
const maxText = 200_000
const maxParts = 100

/** The parts of the prompt, and the words that are no arguments of it. */
export async function readPrompt(
  name: string,
  words: string[],
): Promise<{ parts: Session.PromptPart[]; message: string }> {
  const pairs = words.flatMap((word) => (argument.test(word) ? [argument.exec(word)!.slice(1, 3)] : []))
  const args = Object.fromEntries(pairs) as Record<string, string>
  const message = words
    .filter((word) => !argument.test(word))
    .join(" ")
    .trim()
  try {
    const { messages } = await getPrompt({ ...(await splitName(name)), args })
    return { parts: bounded(messages).map(partOf), message }
  } catch (error) {
    const isUsage = [PromptNotFound, InvalidArguments, Mcp.NotFound].some((kind) => error instanceof kind)
    throw isUsage ? new UsageError((error as Error).message) : error
  }
}

/** The longest name of a server that it begins with: there may be slashes in both. */
async function splitName(text: string): Promise<{ server: string; name: string }> {
  const ids = (await Mcp.list()).map(({ id }) => id).filter((id) => text.startsWith(`${id}/`))
  const server = ids.sort((a, b) => b.length - a.length)[0] ?? text.split("/", 1)[0]!
  const name = text.slice(server.length + 1)
  if (!server || !name) throw new UsageError("--prompt needs SERVER/NAME, such as --prompt files/review")
  return { server, name }
}

function partOf({ role, content }: Messages[number]): Session.PromptPart {
  if (content.type === "image")
    return { type: "image", source: { kind: "base64", value: content.data, mimeType: content.mimeType } }
  const text = textOf(content)
  return { type: "text", text: role === "user" ? text : `[${role}]\n${text}` }
}

/** As much of it as a prompt may have, all of its texts together. */
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
