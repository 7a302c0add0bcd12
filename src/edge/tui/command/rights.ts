// Lists to act on: what was allowed for good, the MCP servers, the skills.
import type { McpServer } from "#client/client.ts"
import type { Command } from "./context.ts"
import { countOf } from "./words.ts"

export const permissionsCommand: Command = {
  name: "permissions",
  about: "list what you have always allowed, and revoke it",
  async run(context) {
    const { client, say } = context
    for (;;) {
      const grants = await client.listGrants()
      if (!grants.length) return say("nothing is always allowed here")
      const items = grants.map(({ id, permission, pattern, agent, scope }) => ({
        value: id,
        label: `${permission}:${pattern}`,
        detail: `${agent}, ${scope === "session" ? "in one session" : "in this project"}`,
      }))
      const id = await context.ask.choose({ title: "Always allowed, enter revokes", items })
      if (id === undefined) return
      await client.removeGrant({ id })
      say("revoked")
    }
  },
}

export const mcpCommand: Command = {
  name: "mcp",
  about: "list the MCP servers, connect and disconnect them",
  argument: "[server]",
  async values({ client }) {
    const servers = await client.listMcpServers()
    return servers.map((server) => ({ value: server.id, about: stateOf(server) }))
  },
  async run(context, rest) {
    const { client, say } = context
    for (;;) {
      const servers = await client.listMcpServers()
      if (!servers.length) return say("no MCP server is configured")
      const items = servers.map((server) => ({ value: server, label: server.id, detail: stateOf(server) }))
      const chosen = rest
        ? servers.find(({ id }) => id === rest)
        : await context.ask.choose({ title: "MCP servers, enter connects or disconnects", items })
      if (!chosen && rest) throw new Error(`There is no MCP server "${rest}".`)
      if (!chosen) return
      const { id, state } = chosen
      say(state === "connected" ? `disconnecting ${id}` : `connecting ${id}`)
      if (state === "connected") await client.disconnectMcpServer({ id })
      else await client.connectMcpServer({ id })
      say(state === "connected" ? `${id} is disconnected` : `${id} is connected`)
      if (rest) return
    }
  },
}

export const skillsCommand: Command = {
  name: "skills",
  about: "list the skills and use one",
  argument: "[name]",
  async values({ client }) {
    return (await client.listSkills()).map(({ name, description }) => ({ value: name, about: description }))
  },
  async run(context, rest) {
    const { client, edit, say } = context
    const skills = await client.listSkills()
    if (!skills.length) return say("there is no skill here")
    const items = skills.map(({ name, description, isOwn }) => ({
      value: name,
      label: name,
      detail: isOwn ? description : `${description} (of the project)`,
    }))
    const isKnown = skills.some(({ name }) => name === rest)
    if (rest && !isKnown) throw new Error(`There is no skill "${rest}".`)
    const name = rest || (await context.ask.choose({ title: "Skills", items }))
    if (name !== undefined) edit(`/${name} `)
  },
}

function stateOf({ state, error, tools, resources, prompts }: McpServer): string {
  if (error) return `${state}: ${error}`
  const offers = [
    countOf(tools, "tool"),
    ...(resources ? [countOf(resources, "resource")] : []),
    ...(prompts ? [countOf(prompts, "prompt")] : []),
  ]
  return `${state}, ${offers.join(", ")}`
}
