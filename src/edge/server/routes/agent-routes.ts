// Routes for the agents of a project.
import { z } from "zod"
import type { AgentDefinition } from "#ability/agent/agent.ts"
import * as AgentRegistry from "#ability/agent/agent-registry.ts"
import { loadToolGroups } from "#ability/tool/tool-groups.ts"
import * as ToolRegistry from "#ability/tool/tool-registry.ts"
import { defineRoute, type Route } from "#edge/server/http/route.ts"
import { Agent } from "#edge/server/http/schemas.ts"

export function agentRoutes(): Route[] {
  return [
    defineRoute({
      id: "listAgents",
      method: "GET",
      path: "/agent",
      summary: "The agents of the project.",
      response: z.array(Agent),
      async handle() {
        await Promise.all([AgentRegistry.load(), loadToolGroups()])
        return AgentRegistry.list().map(describe)
      },
    }),
    defineRoute({
      id: "getAgent",
      method: "GET",
      path: "/agent/:id",
      summary: "One agent.",
      params: z.object({ id: z.string() }),
      response: Agent,
      errors: [404],
      async handle({ params }) {
        await Promise.all([AgentRegistry.load(), loadToolGroups()])
        return describe(AgentRegistry.get(params.id))
      },
    }),
  ]
}

function describe(agent: AgentDefinition): z.input<typeof Agent> {
  const usableTools = ToolRegistry.forAgent(agent.id).map(({ id }) => id)
  const file = AgentRegistry.fileOf(agent.id)
  return { ...agent, usableTools, ...(file ? { file } : {}) }
}
