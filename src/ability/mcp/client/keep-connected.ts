// Keeps one server reachable: starts it when it is first needed, again when it ended, more slowly each time, and after
// some failures in a row only once a minute.
import { setTimeout as sleep } from "node:timers/promises"
import { Closed, Crashed, LoginNeeded, TimedOut, Unavailable } from "#ability/mcp/server/errors.ts"
import type { MCPLog } from "#ability/mcp/server/hooks.ts"
import { loadSDK, type SDK } from "#ability/mcp/server/sdk.ts"
import type { MCPClientConfig, MCPState, MCPStatus } from "#ability/mcp/server/types.ts"
import { useProxy } from "#ability/provider/use-proxy.ts"
import * as Log from "#kernel/process/log.ts"
import { errorText } from "#util/error.ts"
import { type Connection, connectTime, isLegacy, openConnection } from "./connection.ts"
import { explainError } from "./explain-error.ts"

export type Link = {
  get(signal?: AbortSignal): Promise<Connection>
  /** A call went well: earlier failures do not count any more. */
  worked(): void
  /** The server does not know the connection any more. */
  drop(connection: Connection): Promise<void>
  status(): MCPStatus
  close(): Promise<void>
}

const mostFailures = 5
const firstPause = 250
const longPause = 60_000

export function createLink(config: MCPClientConfig): Link {
  const { server } = config
  const ending = new AbortController()
  let state: MCPState = "idle"
  let error: string | undefined
  let current: Connection | undefined
  let connecting: Promise<Connection> | undefined
  let failures = 0
  let failedAt = 0
  let legacy = false

  const onLog = (log: MCPLog) => {
    Log.debug(`mcp: ${log.message}`, { server: server.id, source: log.source, level: log.level })
    try {
      config.hooks?.onLog?.(log)
    } catch (thrown) {
      Log.warn("an onLog hook failed", { server: server.id, error: errorText(thrown) })
    }
  }
  const fail = (reason: unknown) => {
    // A login is a person's to do; the next try is not one too many.
    if (!(reason instanceof LoginNeeded)) failures++
    failedAt = Date.now()
    if (state !== "closed") state = "failed"
    error = errorText(reason)
  }
  const onClose = (closed: Connection) => {
    if (current !== closed) return
    current = undefined
    fail(closed.failure() ?? "the connection was closed")
  }
  const backOff = async () => {
    const since = Date.now() - failedAt
    if (failures >= mostFailures && since < longPause)
      throw new Unavailable(
        server,
        `it failed ${failures} times in a row and rests for ${Math.ceil((longPause - since) / 1000)} s. ${error}`,
      )
    const pause = failures === 0 || failures >= mostFailures ? 0 : firstPause * 2 ** (failures - 1) - since
    if (pause > 0) await sleep(pause, undefined, { signal: ending.signal })
  }
  const open = async (sdk: SDK) => {
    const late = AbortSignal.timeout(connectTime)
    const options = { sdk, config, signal: AbortSignal.any([ending.signal, late]), onLog, onClose }
    try {
      return await openConnection({ ...options, legacy })
    } catch (reason) {
      if (late.aborted) throw new TimedOut(server, "the first message", connectTime)
      // Older servers exist that end at a question they do not know; such a one is asked as they expect it.
      if (legacy || !(reason instanceof Crashed) || ending.signal.aborted) throw reason
      const connection = await openConnection({ ...options, legacy: true })
      legacy = true
      return connection
    }
  }
  const start = async () => {
    await backOff()
    state = "connecting"
    // It says what is wrong with a proxy of the environment, which agents pass over.
    if (server.transport !== "stdio") await useProxy()
    const sdk = await loadSDK()
    let connection: Connection
    try {
      connection = await open(sdk)
    } catch (reason) {
      if (ending.signal.aborted) throw new Closed(server)
      const explained = await explainError({ sdk, config, method: "the first message", error: reason })
      fail(explained)
      throw explained
    }
    if (ending.signal.aborted) {
      await connection.close()
      throw new Closed(server)
    }
    legacy ||= server.transport === "stdio" && isLegacy(connection.client)
    current = connection
    state = "connected"
    error = undefined
    return connection
  }
  const get = async (signal?: AbortSignal) => {
    if (ending.signal.aborted) throw new Closed(server)
    signal?.throwIfAborted()
    if (current) return current
    connecting ??= start().finally(() => {
      connecting = undefined
    })
    return signal ? await unlessAborted(connecting, signal) : await connecting
  }
  const close = async () => {
    if (ending.signal.aborted) return
    state = "closed"
    ending.abort(new Closed(server))
    const open = current
    current = undefined
    await connecting?.catch(() => {})
    await open?.close()
  }
  return Object.freeze({
    get,
    close,
    worked() {
      failures = 0
    },
    async drop(connection: Connection) {
      if (current === connection) {
        current = undefined
        state = "idle"
      }
      await connection.close()
    },
    status: () => ({
      state,
      ...(error === undefined ? {} : { error }),
      ...(current ? { info: current.info } : {}),
    }),
  })
}

async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop: (() => void) | undefined
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason)
    signal.addEventListener("abort", stop, { once: true })
  })
  try {
    return await Promise.race([work, aborted])
  } finally {
    if (stop) signal.removeEventListener("abort", stop)
  }
}
