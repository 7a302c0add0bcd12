// The agent card: what other programs read before they send a task. Every agent of the folder is a skill.
import { A2A_PROTOCOL_VERSION, AgentCard } from "@a2a-js/sdk"
import type { Capability } from "#engine/host/create-agent.ts"
import { version } from "#util/version.ts"
import { inputModes } from "./prompt-of.ts"

const maxText = 1_000
const description =
  "A coding agent that works in one folder, under the rules of its owner. It answers questions about the code, changes it, and runs commands."

/** `url`: where the server takes requests. The extended card, for clients with the token, also names the project. */
export function agentCard(options: { agents: Capability[]; url: string; project?: string }): AgentCard {
  const { agents, url, project } = options
  const scheme = { httpAuthSecurityScheme: { scheme: "Bearer", description: "The token of the server." } }
  return AgentCard.fromJSON({
    name: "vitamin",
    description: project ? `${description} The folder: ${cut(project)}.` : description,
    version,
    supportedInterfaces: [{ url, protocolBinding: "JSONRPC", protocolVersion: A2A_PROTOCOL_VERSION }],
    capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: true },
    securitySchemes: { token: scheme },
    securityRequirements: [{ schemes: { token: { list: [] } } }],
    defaultInputModes: inputModes,
    defaultOutputModes: ["text/markdown"],
    skills: agents.map((agent) => ({
      id: agent.id,
      name: cut(agent.name),
      description: cut(agent.description || agent.name),
      tags: [...new Set([agent.domain, agent.role, ...agent.capabilities])].map(cut),
    })),
  })
}

function cut(text: string): string {
  return text.length > maxText ? `${text.slice(0, maxText - 1)}…` : text
}
