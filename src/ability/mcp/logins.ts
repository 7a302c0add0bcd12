// Logins to MCP servers that a client began, one for each server. The redirect of the browser comes to this machine. An
// outcome is kept until the next login to that server.
import { Instance } from "#kernel/instance.ts"
import { errorText, NamedError } from "#util/error.ts"
import { waitAtMost } from "#util/wait.ts"
import { login } from "./login.ts"
import * as Mcp from "./mcp.ts"
import type { LoginOutcome, LoginStarted } from "./server-status.ts"

type Login = { stop: AbortController; ended: Promise<void>; outcome: LoginOutcome }

/** Milliseconds of one wait, less than any client waits for an answer. */
const longestWait = 20_000

const logins = Instance.state(
  () => new Map<string, Login>(),
  async (all) => {
    for (const { stop } of all.values()) stop.abort(new Error("The server ends."))
    await Promise.all([...all.values()].map(({ ended }) => ended))
  },
)

/** Begins a login, in place of one that still waits. Throws for a server that does not exist or cannot be used. */
export async function start(id: string): Promise<LoginStarted> {
  const { server } = await Mcp.get(id)
  await cancel(id)
  const stop = new AbortController()
  const { promise: opened, resolve } = Promise.withResolvers<string | undefined>()
  const signIn = async (): Promise<LoginOutcome> => {
    await login({ server, onUrl: resolve, signal: stop.signal })
    // Connected at once, so that the session can use its tools.
    return { state: "done", server: await Mcp.connect(id) }
  }
  const own: Login = { stop, ended: Promise.resolve(), outcome: { state: "waiting" } }
  own.ended = signIn()
    .catch((error): LoginOutcome => ({ state: "failed", error: errorText(error) }))
    .then((outcome) => {
      own.outcome = outcome
      resolve(undefined)
    })
  logins().set(id, own)
  const url = await opened
  return url === undefined ? {} : { url }
}

/** The outcome as soon as there is one, or `waiting` after a while: then it is asked for again. */
export async function wait(id: string): Promise<LoginOutcome> {
  const own = logins().get(id)
  if (!own) throw new NamedError("MCP.LoginNotFound", `No login to the MCP server "${id}" was begun.`, { id })
  await waitAtMost(longestWait, own.ended)
  return own.outcome
}

/** Returns whether one was waiting. Throws for a server that does not exist. */
export async function cancel(id: string): Promise<boolean> {
  await Mcp.get(id)
  const own = logins().get(id)
  if (own?.outcome.state !== "waiting") return false
  own.stop.abort(new Error("The login was stopped."))
  await own.ended
  return true
}
