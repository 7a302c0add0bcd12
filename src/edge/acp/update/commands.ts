// Slash commands of a folder: its skills, and the prompts of its MCP servers as `/server:prompt`.
import type { AvailableCommand } from "@agentclientprotocol/sdk"
import type { MCPPrompt } from "#ability/mcp/mcp.ts"
import * as Skill from "#ability/skill/skill.ts"
import { serverPrompts } from "#engine/attach/expand-command.ts"
import { plainText } from "#util/plain-text.ts"

const maxCommands = 500
const maxDescription = 300

/** Prompts come from the servers' last known manifests; no server is started. With `sessionId`, the servers that the
 * client sent for that session are included. */
export async function availableCommands(options: { sessionId?: string } = {}): Promise<AvailableCommand[]> {
  const { skills } = await Skill.list({ isQuiet: true })
  const prompts = await serverPrompts(options.sessionId)
  const commands = new Map<string, AvailableCommand>()
  for (const skill of skills)
    commands.set(skill.name, { ...commandOf(skill.name, skill.description), input: { hint: "what to do" } })
  for (const [name, { prompt }] of prompts)
    if (!commands.has(name))
      commands.set(name, { ...commandOf(name, descriptionOf(prompt)), ...inputOf(prompt) })
  return [...commands.values()].slice(0, maxCommands)
}

function commandOf(name: string, description: string): AvailableCommand {
  return { name, description: plainText(description, maxDescription).replace(/\s+/g, " ").trim() }
}

function descriptionOf({ name, title, description }: MCPPrompt): string {
  return description?.trim() || title?.trim() || name
}

/** `city=… [state=…]` */
function inputOf({ arguments: known = [] }: MCPPrompt): Pick<AvailableCommand, "input"> {
  if (!known.length) return {}
  const words = known.map(({ name, required }) => (required ? `${name}=…` : `[${name}=…]`))
  return { input: { hint: plainText(words.join(" "), maxDescription) } }
}
