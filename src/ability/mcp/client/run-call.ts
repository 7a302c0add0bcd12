// One call to a server: reaches it, keeps the time limit, passes cancellation on, and says in our words what went wrong.
// Time in which a person is asked something for the server does not count.
import type { Client, RequestOptions } from "@modelcontextprotocol/client"
import { Closed, TimedOut } from "#ability/mcp/server/errors.ts"
import { loadSDK } from "#ability/mcp/server/sdk.ts"
import type { MCPCallOptions, MCPClientConfig } from "#ability/mcp/server/types.ts"
import type { Connection } from "./connection.ts"
import { explainError, httpStatus } from "./explain-error.ts"
import type { Link } from "./keep-connected.ts"

type Work<T> = (client: Client, options: RequestOptions) => Promise<T>

const defaultTime = 60_000
/** Where a person may be asked, the limit is kept here; the SDK's own, which knows no pauses, never ends first. */
const never = 2 ** 31 - 1

export async function runCall<T>(given: {
  link: Link
  config: MCPClientConfig
  method: string
  options: MCPCallOptions
  work: Work<T>
  repeated?: boolean
}): Promise<T> {
  const { link, config, method, options, work } = given
  const { server } = config
  const connection = await link.get(options.signal)
  const limit = createLimit({ connection, config, options })
  try {
    const result = await work(connection.client, limit.request)
    link.worked()
    return result
  } catch (error) {
    if (options.signal?.aborted) throw options.signal.reason
    if (limit.isOver(error)) throw new TimedOut(server, method, limit.time)
    const ended = connection.failure()
    if (ended) throw ended
    if (!given.repeated && isForgotten(connection, error)) {
      await link.drop(connection)
      return await runCall({ ...given, repeated: true })
    }
    throw link.status().state === "closed"
      ? new Closed(server)
      : await explainError({ sdk: await loadSDK(), config, method, error })
  } finally {
    limit.clear()
  }
}

/** A server that was started anew knows nothing of the session; the protocol says to begin another one. */
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
  const time = Math.min(options.timeout ?? config.server.timeout ?? defaultTime, never)
  const { signal, onProgress } = options
  const progress = onProgress ? { onprogress: onProgress } : {}
  if (!config.onElicit && !config.onSample)
    return {
      time,
      isOver: isTimeout,
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

function isTimeout(error: unknown): boolean {
  return (error as { code?: unknown } | undefined)?.code === "REQUEST_TIMEOUT"
}
