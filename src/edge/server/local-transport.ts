// Calls of the client in the same process: the handlers of the route table, without HTTP and JSON text. Results and errors
// are those that HTTP would give. Whoever uses it imports it late: the routes load the engine, but not Hono.
import { type Call, ClientError, type Transport } from "#client/client.ts"
import { callRoute, checkCall } from "#edge/server/http/call-route.ts"
import { failureOf } from "#edge/server/http/respond.ts"
import type { Route } from "#edge/server/http/route.ts"
import { coreRoutes } from "#edge/server/routes/core-routes.ts"
import { peopleRoutes } from "#edge/server/routes/people-routes.ts"
import { browserRoutes } from "#edge/server/web/browser-routes.ts"
import type { AgentSource } from "#engine/host/agent-adapter.ts"
import { startParts } from "#engine/host/bootstrap.ts"
import * as Session from "#engine/session/session.ts"
import * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import { realDirectory } from "#kernel/real-directory.ts"
import * as Secret from "#kernel/secret/secret.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { copyJson } from "#util/parse/copy-json.ts"
import { version } from "#util/version.ts"
import { allRoutes } from "./all-routes.ts"
import { openLocalEvents } from "./local-events.ts"

export type LocalTransport = Transport &
  Readonly<{
    /** Stops the work in the folder and disposes of its instance. */
    close(): Promise<void>
  }>

/** `agentFor` gives the agent that runs the prompts of the folder. */
export function createLocalTransport(options: {
  directory: string
  agentFor?: AgentSource | undefined
}): LocalTransport {
  const directory = realDirectory(options.directory)
  let clients = 0
  let migrated: Promise<unknown> | undefined
  const table: Route[] = [
    ...coreRoutes({
      version,
      config: async () => Config.redacted(await Config.get()),
      clients: () => clients,
      routes: () => table,
    }),
    ...browserRoutes(undefined),
    ...peopleRoutes(),
    ...allRoutes(options.agentFor),
  ]
  const routes = new Map(table.map((route) => [route.id, route]))

  async function run<T>(fn: () => Promise<T>): Promise<T> {
    migrated ??= Storage.migrate()
    await migrated
    return Instance.provide({ directory, init, fn })
  }

  async function answer({ id, params, query, headers, body }: Call): Promise<unknown> {
    const route = routes.get(id)!
    try {
      const checked = checkCall(route, { params, query, headers, body: copyJson(body) })
      const work = () => callRoute(route, checked)
      const renewed = async () => {
        if (route.method !== "GET") await Config.renew()
        return work()
      }
      const { value } = await (route.instance === false ? work() : run(renewed))
      return Secret.redactCopy(value)
    } catch (error) {
      const { status, body } = failureOf(error)
      throw new ClientError({ ...(Secret.redactCopy(body.error) as typeof body.error), status })
    }
  }

  return Object.freeze({
    async call(call, { signal }) {
      signal?.throwIfAborted()
      return signal ? orAborted(answer(call), signal) : answer(call)
    },
    async connect(request) {
      clients++
      return { frames: openLocalEvents({ ...request, directory, closed: () => clients-- }) }
    },
    async close() {
      if (migrated) await run(() => Instance.dispose())
    },
  })
}

/** The configuration is checked before each call that changes something: while a person reads, the process sleeps. */
async function init(): Promise<void> {
  await startParts()
  await Config.renew()
  await Session.recover()
}

/** The work itself goes on, as that of an HTTP request whose client has gone. */
function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const abort = () => reject(signal.reason)
  signal.addEventListener("abort", abort, { once: true })
  work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort))
  return promise
}
