// Serves an agent over HTTP, with the routes of `vitamin serve`. Prompts go through the agent; sessions, models and
// questions are those of its folder in this process.

import type { Place } from "#edge/server/agent-server.ts"
import { type AgentServer, createAgentServer } from "#edge/server/create-agent-server.ts"
import type { AgentAdapter } from "#engine/host/agent-adapter.ts"
import type { Agent } from "#engine/host/create-agent.ts"

export type HTTPConfig = Place
export type HTTPServer = AgentServer

export const httpAdapter: AgentAdapter<HTTPConfig, HTTPServer> = Object.freeze({
  name: "http",
  wrap: (agent: Agent, config: HTTPConfig) =>
    createAgentServer(agent, async () => (await import("./serve-agent.ts")).serveHttp(agent, config)),
})
