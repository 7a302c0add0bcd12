// The sessions that a client has open. Each runs in the instance of its folder; one process serves several folders.
import { isAbsolute } from "node:path"
import type { McpServer } from "@agentclientprotocol/sdk"
import type { Added } from "#ability/mcp/load-servers.ts"
import type { SessionOptions } from "#edge/acp/update/session-options.ts"
import { InvalidParams, NotOpen } from "#edge/acp/wire/errors.ts"
import { startParts } from "#engine/host/bootstrap.ts"
import * as Session from "#engine/session/session.ts"
import * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import * as Global from "#kernel/process/global.ts"
import * as Log from "#kernel/process/log.ts"
import { errorText } from "#util/error.ts"
import { statOf } from "#util/file/path-info.ts"
import { clientServers } from "./client-servers.ts"
import { type Opening, type OpenSession, openSession } from "./open-session.ts"
import type { PersonOptions } from "./run-turn.ts"

type Params = {
  cwd: string
  mcpServers?: readonly McpServer[] | undefined
  additionalDirectories?: readonly string[] | undefined
}
type Client = Pick<Opening, "client" | "capabilities">
/** The client, and the ACP method that it called. */
type Caller = Client & { method: string }
export type Opened = { sessionId: string; options: SessionOptions; reportCommands(): void }

export type Sessions = Readonly<{
  create(params: Params, caller: Caller): Promise<Opened>
  /** Open a stored session. `isReplayed`: send its history first. */
  load(params: Params & { sessionId: string; isReplayed: boolean }, caller: Caller): Promise<Opened>
  /** Call `fn` with an open session, after earlier requests to open, close or remove it are done. */
  using<T>(sessionId: string, fn: (session: OpenSession) => Promise<T>): Promise<T>
  close(sessionId: string): Promise<void>
  remove(sessionId: string): Promise<void>
  closeAll(): Promise<void>
}>

export function createSessions(person: PersonOptions): Sessions {
  const open = new Map<string, OpenSession>()
  /** Opening, closing and removing are queued for each session. */
  const work = new Map<string, Promise<unknown>>()
  let isOver = false

  async function create(params: Params, caller: Caller): Promise<Opened> {
    return inFolder(params, async () => {
      const servers = await serversOf(params, caller)
      const { model, agent } = person
      const session = await Session.create({ ...(model ? { model } : {}), ...(agent ? { agent } : {}) })
      return inTurn(session.id, () => start({ session, servers, caller, isReplayed: false }))
    })
  }

  async function load(
    params: Params & { sessionId: string; isReplayed: boolean },
    caller: Caller,
  ): Promise<Opened> {
    const { sessionId, isReplayed } = params
    return inTurn(sessionId, () =>
      inFolder(params, async () => {
        const session = await Session.get(sessionId)
        if (session.directory !== Instance.directory)
          throw new InvalidParams(
            `Session ${sessionId} belongs to ${session.directory}: cwd must be that folder.`,
          )
        const servers = await serversOf(params, caller)
        await end(sessionId)
        return start({ session, servers, caller, isReplayed })
      }),
    )
  }

  async function start(
    options: Omit<Opening, "person" | keyof Client> & { caller: Caller },
  ): Promise<Opened> {
    const { session, servers, caller, isReplayed } = options
    const { client, capabilities } = caller
    const opened = await openSession({ session, servers, client, capabilities, person, isReplayed })
    open.set(session.id, opened)
    if (isOver) await end(session.id, Session.runtimeStops)
    return { sessionId: session.id, options: await opened.options(), reportCommands: opened.reportCommands }
  }

  function get(sessionId: string): OpenSession {
    const session = open.get(sessionId)
    if (!session) throw new NotOpen(sessionId)
    return session
  }

  async function using<T>(sessionId: string, fn: (session: OpenSession) => Promise<T>): Promise<T> {
    const run = () => fn(get(sessionId))
    // The same `then` as in `inTurn`, so that two requests that wait for the same promise run in their order.
    const before = work.get(sessionId)
    return before ? before.then(run, run) : run()
  }

  async function close(sessionId: string): Promise<void> {
    await inTurn(sessionId, async () => {
      get(sessionId)
      await end(sessionId)
    })
    await Instance.disposeIdle({ olderThan: 0, keep: 0 })
  }

  async function remove(sessionId: string): Promise<void> {
    await inTurn(sessionId, async () => {
      const { directory } = await Session.get(sessionId)
      await open.get(sessionId)?.stop()
      // The session's folder may have been removed; the data folder always exists.
      const cwd = statOf(directory)?.isDirectory() ? directory : Global.data()
      await inFolder({ cwd }, () => Session.remove(sessionId))
      await end(sessionId)
    })
    await Instance.disposeIdle({ olderThan: 0, keep: 0 })
  }

  async function end(sessionId: string, why?: string): Promise<void> {
    const session = open.get(sessionId)
    open.delete(sessionId)
    await session?.close(why)
  }

  async function closeAll(): Promise<void> {
    isOver = true
    const ids = new Set([...open.keys(), ...work.keys()])
    const closed = await Promise.allSettled(
      [...ids].map((id) => inTurn(id, () => end(id, Session.runtimeStops))),
    )
    for (const result of closed)
      if (result.status === "rejected")
        Log.warn("a session failed to close", { error: errorText(result.reason) })
  }

  async function inTurn<T>(sessionId: string, fn: () => Promise<T>): Promise<T> {
    const before = work.get(sessionId) ?? Promise.resolve()
    const mine = before.then(fn, fn)
    work.set(sessionId, mine)
    try {
      return await mine
    } finally {
      if (work.get(sessionId) === mine) work.delete(sessionId)
    }
  }

  return Object.freeze({ create, load, using, close, remove, closeAll })
}

/** Called before the session is opened, so that invalid servers are refused before anything has changed. */
async function serversOf(
  { mcpServers, additionalDirectories }: Params,
  { method }: Caller,
): Promise<Added[]> {
  if (additionalDirectories?.length)
    Log.warn("additional directories are not supported: a session works in one folder")
  return clientServers(mcpServers ?? [], method)
}

async function inFolder<T>({ cwd }: Pick<Params, "cwd">, fn: () => Promise<T>): Promise<T> {
  const shown = JSON.stringify(cwd.slice(0, 200))
  if (!isAbsolute(cwd) || cwd.includes("\0")) throw new InvalidParams(`cwd ${shown} is not an absolute path.`)
  if (!statOf(cwd)?.isDirectory()) throw new InvalidParams(`cwd ${shown} is not a folder that exists.`)
  return Instance.provide({ directory: cwd, init: startAndWatch, fn })
}

async function startAndWatch(): Promise<void> {
  await startParts()
  await Config.watch()
  await Session.recover()
}
