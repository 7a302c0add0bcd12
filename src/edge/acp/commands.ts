// Slash commands of a folder: its skills, and the prompts of its MCP servers as `/server:prompt`.
import type { AvailableCommand } from "@agentclientprotocol/sdk"
import { ifConfigured } from "#ability/mcp/if-configured.ts"
import type { MCPPrompt } from "#ability/mcp/types.ts"
import * as Skill from "#ability/skill/skill.ts"
import { plainText } from "#ability/tool/plain-text.ts"

export type ServerPrompt = { server: string; prompt: MCPPrompt }

const maxCommands = 500
const maxDescription = 300
/** What can be typed behind a slash, and seen. */
const name = /^[^\s\p{C}\p{DI}/][^\s\p{C}\p{DI}]{0,127}$/u

/** Of what the servers last said; none is started for it. With a session also of those that were brought for it. */
export async function availableCommands(options: { sessionId?: string } = {}): Promise<AvailableCommand[]> {
  const { skills } = await Skill.list({ isQuiet: true })
  const prompts = await serverPrompts(options)
  const commands = new Map<string, AvailableCommand>()
  for (const skill of skills)
    commands.set(skill.name, { ...commandOf(skill.name, skill.description), input: { hint: "what to do" } })
  for (const [name, { prompt }] of prompts)
    if (!commands.has(name))
      commands.set(name, { ...commandOf(name, descriptionOf(prompt)), ...inputOf(prompt) })
  return [...commands.values()].slice(0, maxCommands)
}

/** By the name of their command. */
export async function serverPrompts({
  sessionId,
}: {
  sessionId?: string
}): Promise<Map<string, ServerPrompt>> {
  const Mcp = await ifConfigured()
  const servers = (await Mcp?.usable(sessionId === undefined ? undefined : [sessionId])) ?? []
  const found = new Map<string, ServerPrompt>()
  for (const server of servers) {
    const { id } = server.server
    for (const prompt of server.manifest()?.prompts ?? [])
      if (name.test(prompt.name)) found.set(`${id}:${prompt.name}`, { server: id, prompt })
  }
  return found
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
