// Routes for the agents of a project.
import { z } from "zod"
import type { AgentDefinition } from "#ability/agent/agent.ts"
import * as AgentRegistry from "#ability/agent/agent-registry.ts"
import { loadToolGroups } from "#ability/tool/tool-groups.ts"
import * as ToolRegistry from "#ability/tool/tool-registry.ts"
import { defineRoute, type Route } from "#edge/server/http/route.ts"
import { Agent } from "#edge/server/http/schemas.ts"
import { about } from "#util/about.ts"

export function agentRoutes(): Route[] {
  return [
    defineRoute({
      id: "listAgents",
      method: "GET",
      role: "reader",
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
      role: "reader",
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
    defineRoute({
      id: "routeRequest",
      method: "POST",
      role: "member",
      path: "/agent/route",
      summary: "Which agent the router would choose for a request, and why. Runs nothing.",
      body: z.object({ request: z.string().min(1).max(100_000) }),
      response: z.object({
        agent: about("The chosen agent.", z.string()),
        score: z.number(),
        reasons: z.array(z.string()),
        ranked: about(
          "All agents that match, the best first.",
          z.array(z.object({ agent: z.string(), score: z.number(), reasons: z.array(z.string()) })),
        ),
      }),
      async handle({ body }) {
        await Promise.all([AgentRegistry.load(), loadToolGroups()])
        const { agent, ...fit } = await AgentRegistry.resolve(body.request)
        return { agent: agent.id, ...fit }
      },
    }),
  ]
}

function describe(agent: AgentDefinition): z.input<typeof Agent> {
  const usableTools = ToolRegistry.forAgent(agent.id).map(({ id }) => id)
  const file = AgentRegistry.fileOf(agent.id)
  return { ...agent, usableTools, ...(file ? { file } : {}) }
}
