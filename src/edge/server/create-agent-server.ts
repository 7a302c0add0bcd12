// What adapters give that serve one agent over HTTP: a server that starts and stops with the agent.
import type { Agent } from "#engine/host/create-agent.ts"
import type { RunningServer } from "./server.ts"

export type AgentServer = Readonly<{
  start(): Promise<void>
  /** Interrupts the prompts of the agent, answers open requests, and stops the agent. */
  stop(): Promise<void>
  /** Where clients connect; undefined while it does not run. */
  url: string | undefined
  /** The file with the token that clients need. */
  tokenFile: string | undefined
}>

/** `listen` starts the agent and its server; it loads the code of the server. */
export function createAgentServer(agent: Agent, listen: () => Promise<RunningServer>): AgentServer {
  let starting: Promise<RunningServer> | undefined
  let server: RunningServer | undefined
  return Object.freeze({
    async start() {
      starting ??= listen()
      try {
        server = await starting
      } catch (error) {
        starting = undefined
        throw error
      }
    },
    async stop() {
      const running = await starting?.catch(() => undefined)
      starting = undefined
      server = undefined
      const stopped = running?.stop()
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
}
