// The sessions that a client has open. Each runs in the instance of its folder; one process serves several folders.
import { realpathSync } from "node:fs"
import { isAbsolute } from "node:path"
import type { McpServer } from "@agentclientprotocol/sdk"
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
import { hasWildcard } from "#util/wildcard.ts"
import { clientServers } from "./client-servers.ts"
import { type Opening, type OpenSession, openSession } from "./open-session.ts"
import type { Serving } from "./run-turn.ts"

type Params = {
  cwd: string
  mcpServers?: readonly McpServer[] | undefined
  additionalDirectories?: readonly string[] | undefined
}
type Client = Pick<Opening, "client" | "capabilities" | "reportsPrompts">
/** The client, and the ACP method that it called. */
type Caller = Client & { method: string }
export type Opened = { sessionId: string; options: SessionOptions; reportCommands(): Promise<void> }

const maxFolders = 50

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

export function createSessions(serving: Serving): Sessions {
  const open = new Map<string, OpenSession>()
  /** Opening, closing and removing are queued for each session. */
  const work = new Map<string, Promise<unknown>>()
  let isOver = false

  async function create(params: Params, caller: Caller): Promise<Opened> {
    const directories = foldersOf(params)
    return inFolder(params, async () => {
      await checkServed()
      const { model, agent, mcpServers: given } = serving
      const servers = await clientServers(params.mcpServers ?? [], { method: caller.method, given })
      const session = await Session.create({ ...(model ? { model } : {}), ...(agent ? { agent } : {}) })
      return inTurn(session.id, () => start({ session, servers, directories, caller, isReplayed: false }))
    })
  }

  async function load(
    params: Params & { sessionId: string; isReplayed: boolean },
    caller: Caller,
  ): Promise<Opened> {
    const { sessionId, isReplayed } = params
    const directories = foldersOf(params)
    return inTurn(sessionId, () =>
      inFolder(params, async () => {
        await checkServed()
        const session = await Session.getFor(sessionId, "member")
        if (session.directory !== Instance.directory)
          throw new InvalidParams(
            `Session ${sessionId} belongs to ${session.directory}: cwd must be that folder.`,
          )
        const { mcpServers: given } = serving
        const servers = await clientServers(params.mcpServers ?? [], { method: caller.method, given })
        await end(sessionId)
        return start({ session, servers, directories, caller, isReplayed })
      }),
    )
  }

  /** Refuses a folder without an agent. */
  async function checkServed(): Promise<void> {
    await serving.agentFor?.(Instance.directory)
  }

  async function start(
    options: Omit<Opening, "serving" | keyof Client> & { caller: Caller },
  ): Promise<Opened> {
    const { caller, ...opening } = options
    const { session } = opening
    const { method: _, ...client } = caller
    // Before any server is added: in a sandbox, servers must not start here.
    await serving.agentFor?.(Instance.directory)
    const opened = await openSession({ ...opening, ...client, serving })
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
      const directory = await folderOf(sessionId)
      // The protocol wants a session that does not exist to count as deleted.
      if (directory === undefined) return
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

/** Undefined if there is no such session. */
async function folderOf(sessionId: string): Promise<string | undefined> {
  try {
    return (await Session.get(sessionId)).directory
  } catch (error) {
    if (error instanceof Session.NotFound) return undefined
    throw error
  }
}

/** The real paths of the additional directories. */
function foldersOf({ additionalDirectories }: Params): string[] {
  const given = additionalDirectories ?? []
  if (given.length > maxFolders)
    throw new InvalidParams(`A session can have up to ${maxFolders} additional directories.`)
  const reals = given.map((path) => {
    checkFolder("additionalDirectories:", path)
    return realpathSync(path)
  })
  const wild = reals.find(hasWildcard)
  // Rules are written for these folders, and a rule has no other spelling for a star.
  if (wild) throw new InvalidParams(`additionalDirectories: ${JSON.stringify(wild)} has a star in its name.`)
  return [...new Set(reals)]
}

function checkFolder(name: string, path: string): void {
  const shown = JSON.stringify(path.slice(0, 200))
  if (!isAbsolute(path) || path.includes("\0"))
    throw new InvalidParams(`${name} ${shown} is not an absolute path.`)
  if (!statOf(path)?.isDirectory()) throw new InvalidParams(`${name} ${shown} is not a folder that exists.`)
}

async function inFolder<T>({ cwd }: Pick<Params, "cwd">, fn: () => Promise<T>): Promise<T> {
  checkFolder("cwd", cwd)
  return Instance.provide({ directory: cwd, init: startAndWatch, fn })
}

async function startAndWatch(): Promise<void> {
  await startParts()
  await Config.watch()
  await Session.recover()
}
