// Logins to MCP servers that a client began, one for each server.
import { createLogins, type LoginStarted } from "#kernel/login/create-logins.ts"
import { NamedError } from "#util/error.ts"
import { login } from "./login.ts"
import * as Mcp from "./mcp.ts"
import type { ServerLogin, Status } from "./server-status.ts"

const logins = createLogins<{ server: Status }>()

/** Begins a login, in place of one that still waits. Throws for a server that does not exist or cannot be used. */
export async function start(id: string): Promise<LoginStarted> {
  const { server } = await Mcp.get(id)
  return logins.start(id, async (given) => {
    await login({ server, ...given })
    // Connected at once, so that the session can use its tools.
    return { server: await Mcp.connect(id) }
  })
}

/** The outcome as soon as there is one, or `waiting` after a while: then it is asked for again. */
export async function wait(id: string): Promise<ServerLogin> {
  const outcome = await logins.wait(id)
  if (outcome) return outcome
  throw new NamedError("MCP.LoginNotFound", `No login to the MCP server "${id}" was begun.`, { id })
}

/** Returns whether one was waiting. Throws for a server that does not exist. */
export async function cancel(id: string): Promise<boolean> {
  await Mcp.get(id)
  return logins.cancel(id)
}
