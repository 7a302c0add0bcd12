// The HTTP server of the agents of a folder, and the start of an agent that it serves.
import type { Agent } from "#engine/host/create-agent.ts"
import * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { version } from "#util/version.ts"
import { createServer, type RunningServer, type ServerOptions } from "./server.ts"
import { startInstance } from "./start-instance.ts"

export type Place = {
  /** Default: any free port. */
  port?: number | undefined
  /** Default: 127.0.0.1. */
  host?: string | undefined
}

/** `acp`: how a WebSocket at /acp is served; without it there is none. */
export function startServer(
  directory: string,
  {
    port = 0,
    host = "127.0.0.1",
    ...served
  }: Place & Pick<ServerOptions, "routes" | "acp" | "hasPage" | "across">,
): Promise<RunningServer> {
  return createServer({
    port,
    host,
    directory,
    version,
    init: startInstance,
    config: async () => Config.redacted(await Config.get()),
    ...served,
  })
}

/** Starts an agent, then what serves it. If that fails, the agent is stopped. */
export async function withAgent<T>(agent: Agent, serve: () => Promise<T>): Promise<T> {
  const { directory } = agent
  await Storage.migrate()
  await Instance.provide({ directory, init: startInstance, fn: () => agent.start() })
  try {
    return await serve()
  } catch (error) {
    await agent.stop()
    throw error
  }
}

/** Where clients of ACP connect. */
export function socketUrl({ url }: Pick<RunningServer, "url">): string {
  return `${url.replace(/^http/, "ws")}/acp`
}
