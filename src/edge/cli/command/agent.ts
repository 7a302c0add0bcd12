// `vitamin agent …`: lists agents, shows one with its tools and rules, and explains routing.
import type { AgentDefinition } from "#ability/agent/agent.ts"
import * as AgentRegistry from "#ability/agent/agent-registry.ts"
import { ifConfigured } from "#ability/mcp/if-configured.ts"
import { formatRule } from "#ability/permission/rule.ts"
import { isNamed } from "#ability/tool/may-use.ts"
import { loadToolGroups } from "#ability/tool/tool-groups.ts"
import * as ToolRegistry from "#ability/tool/tool-registry.ts"
import { type FolderOptions, inInstance } from "#edge/cli/process/in-instance.ts"
import { wrapList } from "#edge/cli/terminal/wrap-text.ts"
import * as Log from "#kernel/process/log.ts"

type Options = FolderOptions & { format: "text" | "json" }

export async function listAgents(options: Options): Promise<void> {
  await inAgents(options, () => {
    const agents = AgentRegistry.list()
    if (options.format === "json") return printJson(agents)
    for (const { id, mode, role, domain, name, metadata } of agents)
      print(
        `${id.padEnd(16)} ${mode.padEnd(8)} ${role.padEnd(12)} ${domain.padEnd(14)} ${metadata.description ?? name}`,
        54,
      )
  })
}

export async function showAgent(options: Options & { id: string }): Promise<void> {
  await inAgents(options, async () => {
    const agent = AgentRegistry.get(options.id)
    await (await ifConfigured())?.list()
    const tools = ToolRegistry.forAgent(agent.id).map(({ id }) => id)
    const file = AgentRegistry.fileOf(agent.id)
    const url = AgentRegistry.remoteOf(agent.id)?.url
    const places = { ...(file ? { file } : {}), ...(url ? { url } : {}) }
    if (options.format === "json") return printJson({ ...agent, usableTools: tools, ...places })
    for (const [name, value] of linesOf(agent, { tools, ...places }))
      if (value !== undefined && value !== "") print(`${name.padEnd(13)} ${value}`, 14)
    if (agent.systemPrompt) print(`\n${agent.systemPrompt}`)
  })
}

export async function routeAgent(options: Options & { request: string[] }): Promise<void> {
  await inAgents(options, async () => {
    const { agent, score, reasons, ranked } = await AgentRegistry.resolve(options.request.join(" "))
    if (options.format === "json") return printJson({ agent: agent.id, score, reasons, ranked })
    if (!ranked.length) return print(`${agent.id}: ${reasons.join("; ")}`)
    for (const fit of ranked)
      print(`${fit.agent.padEnd(16)} ${String(fit.score).padStart(5)}  ${fit.reasons.join("; ")}`)
  })
}

async function inAgents(options: FolderOptions, fn: () => void | Promise<void>): Promise<void> {
  await inInstance(options, async () => {
    await AgentRegistry.load()
    await loadToolGroups()
    await fn()
  })
}

function linesOf(
  agent: AgentDefinition,
  { tools, file, url }: { tools: string[]; file?: string; url?: string },
): [string, string | number | undefined][] {
  const { permissions, capabilities, skills, metadata, temperature, maxTokens } = agent
  const known = ToolRegistry.list()
  const missing = agent.tools?.filter((name) => !known.some((tool) => isNamed(name, tool))) ?? []
  return [
    ["id", agent.id],
    ["name", agent.name],
    ["description", metadata.description],
    ["mode", agent.mode],
    ["role", agent.role],
    ["domain", agent.domain],
    ["capabilities", capabilities.join(", ")],
    ["tools", tools.join(", ") || "none"],
    ["not here", missing.join(", ")],
    ["skills", skills.join(", ")],
    ["model", agent.model],
    ["temperature", temperature],
    ["max tokens", maxTokens],
    ["permissions", permissions.map((rule) => `${rule.action} ${formatRule(rule)}`).join(", ")],
    ["file", file],
    ["url", url],
  ]
}

function printJson(value: unknown) {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`)
}

/** Text of a project's file must not control the terminal. */
function print(text: string, indent?: number) {
  process.stdout.write(`${wrapList(text.split("\n").map(Log.escapeControls).join("\n"), indent)}\n`)
}
