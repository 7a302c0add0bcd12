// Slash commands of a folder: its command files, its skills, and the prompts of its MCP servers as `/server:prompt`.
import type { AvailableCommand } from "@agentclientprotocol/sdk"
import { listCommands, type Offered } from "#engine/attach/list-commands.ts"
import { plainText } from "#util/plain-text.ts"

const maxCommands = 500
const maxDescription = 300

/** Prompts come from the servers' last known manifests; no server is started. With `sessionId`, the servers that the
 * client sent for that session are included. */
export async function availableCommands(options: { sessionId?: string } = {}): Promise<AvailableCommand[]> {
  const commands = await listCommands(options.sessionId)
  return commands.slice(0, maxCommands).map((command) => {
    const text = plainText(command.description.trim() || command.name, maxDescription)
    return { name: command.name, description: text.replace(/\s+/g, " ").trim(), ...inputOf(command) }
  })
}

/** `city=… [state=…]` for a prompt of a server. */
function inputOf({ kind, hint, arguments: known = [] }: Offered): Pick<AvailableCommand, "input"> {
  if (kind === "skill") return { input: { hint: "what to do" } }
  const words = known.map(({ name, required }) => (required ? `${name}=…` : `[${name}=…]`)).join(" ")
  const shown = hint ?? (kind === "command" ? "arguments" : words)
  return shown ? { input: { hint: plainText(shown, maxDescription) } } : {}
}
