// Connects to one server when it is needed and runs calls on it. After the server has ended it is started again, with a
// longer pause after each failure, and after five failures in a row only once a minute.
import { setTimeout as sleep } from "node:timers/promises"
import type { Client, RequestOptions } from "@modelcontextprotocol/client"
import { Closed, Crashed, LoginNeeded, TimedOut, Unavailable } from "#ability/mcp/server/errors.ts"
import { loadSDK, type SDK } from "#ability/mcp/server/sdk.ts"
import type {
  MCPCallOptions,
  MCPClientConfig,
  MCPLog,
  MCPState,
  MCPStatus,
} from "#ability/mcp/server/types.ts"
import { useProxy } from "#ability/provider/environment.ts"
import * as Log from "#kernel/process/log.ts"
import { errorText } from "#util/error.ts"
import { orAborted } from "#util/wait.ts"
import { type Connection, connectTime, isLegacy, openConnection } from "./connection.ts"
import { explainError, httpStatus } from "./explain-error.ts"

type Work<T> = (client: Client, options: RequestOptions) => Promise<T>
export type Link = Readonly<{
  get(signal?: AbortSignal): Promise<Connection>
  /** Runs a request of the SDK's client with the call's timeout and signal. Throws our errors. */
  call<T>(method: string, options: MCPCallOptions, work: Work<T>): Promise<T>
  status(): MCPStatus
  close(): Promise<void>
}>

/** Milliseconds for one call. */
const defaultLimit = 60_000
/** The SDK's own timeout, which is never reached if a person can be asked: that wait does not count, so the timeout is
 * measured here. */
const never = 2 ** 31 - 1
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
    // A missing login is no failure: the attempt after the login must not be delayed.
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
        `it failed ${failures} times in a row; the next attempt is possible in ${Math.ceil((longPause - since) / 1000)} s. ${error}`,
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
      // Some old servers exit at an unknown request, so the old revision is tried next.
      if (legacy || !(reason instanceof Crashed) || ending.signal.aborted) throw reason
      const connection = await openConnection({ ...options, legacy: true })
      legacy = true
      return connection
    }
  }
  const start = async () => {
    await backOff()
    state = "connecting"
    // Reports an invalid proxy of the environment, which Node's agents ignore.
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
    return signal ? await orAborted(connecting, signal) : await connecting
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
  /** Closes a connection whose session the server no longer knows. */
  const drop = async (connection: Connection) => {
    if (current === connection) {
      current = undefined
      state = "idle"
    }
    await connection.close()
  }
  const call = async <T>(
    method: string,
    options: MCPCallOptions,
    work: Work<T>,
    isRepeated = false,
  ): Promise<T> => {
    const connection = await get(options.signal)
    const limit = createLimit({ connection, config, options })
    try {
      const result = await work(connection.client, limit.request)
      failures = 0
      return result
    } catch (error) {
      if (options.signal?.aborted) throw options.signal.reason
      if (limit.isOver(error)) throw new TimedOut(server, method, limit.time)
      const ended = connection.failure()
      if (ended) throw ended
      if (!isRepeated && isForgotten(connection, error)) {
        await drop(connection)
        return await call(method, options, work, true)
      }
      if (ending.signal.aborted) throw new Closed(server)
      throw await explainError({ sdk: await loadSDK(), config, method, error })
    } finally {
      limit.clear()
    }
  }
  const status = () => ({
    state,
    ...(error === undefined ? {} : { error }),
    ...(current ? { info: current.info } : {}),
  })
  return Object.freeze({ get, call, status, close })
}

/** True if the server no longer knows the session, for example after a restart. Then the protocol asks for a new
 * session. */
function isForgotten(connection: Connection, error: unknown): boolean {
  const status = httpStatus(error)
  return connection.hasSession() && (status === 404 || status === 400)
}

function createLimit(given: { connection: Connection; config: MCPClientConfig; options: MCPCallOptions }): {
  time: number
  isOver(error: unknown): boolean
  clear(): void
  request: RequestOptions
} {
  const { connection, config, options } = given
  const time = Math.min(options.timeout ?? config.server.timeout ?? defaultLimit, never)
  const { signal, onProgress } = options
  const progress = onProgress ? { onprogress: onProgress } : {}
  if (!config.onElicit && !config.onSample)
    return {
      time,
      isOver: (error) => (error as { code?: unknown } | undefined)?.code === "REQUEST_TIMEOUT",
      clear() {},
      request: { timeout: time, ...(signal ? { signal } : {}), ...progress },
    }
  const controller = new AbortController()
  let over = false
  const end = () => {
    if (connection.isAsking()) {
      timer = setTimeout(end, time)
      return
    }
    over = true
    controller.abort("the time limit was reached")
  }
  const stop = () => controller.abort("it was cancelled")
  let timer = setTimeout(end, time)
  signal?.addEventListener("abort", stop, { once: true })
  return {
    time,
    isOver: () => over,
    clear() {
      clearTimeout(timer)
      signal?.removeEventListener("abort", stop)
    },
    request: { signal: controller.signal, timeout: never, ...progress },
  }
}
