// Serves an agent over the Agent Client Protocol (ACP), on stdin and stdout, or over a WebSocket. Prompts go through the
// agent; sessions, models, commands and questions are those of its folder in this process.
import type { Readable, Writable } from "node:stream"
import type { AgentAdapter } from "#engine/host/agent-adapter.ts"
import type { Agent } from "#engine/host/create-agent.ts"
import type { McpServer } from "#kernel/schema/schema.ts"

export type ACPConfig = {
  transport: "stdio" | "http"
  /** For `http`; default: any free port. */
  port?: number | undefined
  /** MCP servers of every session, beside those of its client. */
  mcpServers?: readonly McpServer[] | undefined
  /** For `stdio`: other streams than those of the process. */
  input?: Readable | undefined
  output?: Writable | undefined
}
export type ACPServer = Readonly<{
  start(): Promise<void>
  /** Interrupts the prompts of the agent, disconnects the clients, and stops the agent. */
  stop(): Promise<void>
  /** Resolves when the client of `stdio` has gone, or after `stop`. */
  ended: Promise<void>
  /** Where clients connect; undefined for `stdio`, and while it does not run. */
  url: string | undefined
  /** The file with the token that a client of `http` needs. */
  tokenFile: string | undefined
}>
export type Connection = {
  url?: string
  tokenFile?: string
  ended?: Promise<void>
  stop(): Promise<void>
}

export const acpAdapter: AgentAdapter<ACPConfig, ACPServer> = Object.freeze({
  name: "acp",
  wrap(agent: Agent, config: ACPConfig) {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>()
    let serving: Connection | undefined
    return Object.freeze({
      ended,
      async start() {
        const { serveAcp } = await import("./serve-agent.ts")
        serving ??= await serveAcp(agent, config)
        serving.ended?.then(end, end)
      },
      async stop() {
        await serving?.stop()
        serving = undefined
        await agent.stop()
        end()
      },
      get url() {
        return serving?.url
      },
      get tokenFile() {
        return serving?.tokenFile
      },
    })
  },
})
