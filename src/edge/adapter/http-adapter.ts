// Serves an agent over HTTP, with the routes of `vitamin serve`. Prompts go through the agent; sessions, models and
// questions are those of its folder in this process.
import type { RunningServer } from "#edge/server/server.ts"
import type { AgentAdapter } from "#engine/host/agent-adapter.ts"
import type { Agent } from "#engine/host/create-agent.ts"
import type { Place } from "./agent-server.ts"

export type HTTPConfig = Place
export type HTTPServer = Readonly<{
  start(): Promise<void>
  /** Interrupts the prompts of the agent, answers open requests, and stops the agent. */
  stop(): Promise<void>
  /** Where clients connect; undefined while it does not run. */
  url: string | undefined
  /** The file with the token that requests need. */
  tokenFile: string | undefined
}>

export const httpAdapter: AgentAdapter<HTTPConfig, HTTPServer> = Object.freeze({
  name: "http",
  wrap(agent: Agent, config: HTTPConfig) {
    let server: RunningServer | undefined
    return Object.freeze({
      async start() {
        const { serveHttp } = await import("./serve-agent.ts")
        server ??= await serveHttp(agent, config)
      },
      async stop() {
        const stopped = server?.stop()
        server = undefined
        await agent.stop()
        await stopped
      },
      get url() {
        return server?.url
      },
      get tokenFile() {
        return server?.tokenFile
      },
    })
  },
})
