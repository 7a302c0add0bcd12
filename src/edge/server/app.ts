// The Hono app: every request passes the guard, then finds its route, then runs in the instance of its directory. One
// error handler converts everything that is thrown.
import type { Socket } from "node:net"
import { type Context, Hono } from "hono"
import type { EventStream } from "#edge/server/event/event-stream.ts"
import { checkLength, readBody, readJson } from "#edge/server/http/body.ts"
import { callRoute, checkCall } from "#edge/server/http/call-route.ts"
import { resolveDirectory } from "#edge/server/http/directory.ts"
import { methodNotAllowed, unknownPath, upgradeRequired } from "#edge/server/http/refusal.ts"
import { type Bindings, errorResponse, jsonResponse } from "#edge/server/http/respond.ts"
import type { Route } from "#edge/server/http/route.ts"
import { coreRoutes } from "#edge/server/routes/core-routes.ts"
import { eventRoute } from "#edge/server/routes/event-route.ts"
import { Instance } from "#kernel/instance.ts"
import { createGuard } from "./guard.ts"

export type AppOptions = {
  token: string
  /** The exact Host values that the server accepts, such as `127.0.0.1:3141`. */
  hosts: readonly string[]
  /** The exact Origin values of web pages that may use the server. */
  origins: readonly string[]
  /** The directory of requests without x-vitamin-directory. */
  directory: string
  /** Runs once in every new instance. */
  init?: () => unknown
  /** The configuration of the current instance. */
  config: () => unknown
  version: string
  eventStream: EventStream
  /** Routes beside the core ones. */
  routes?: readonly Route[]
  bodyLimit?: number
  /** Paths that answer WebSockets only. */
  socketPaths?: readonly string[]
  /** Called with the connection of each request that showed the token. */
  admit?: (socket: Socket) => void
}
type App = Hono<{ Bindings: Bindings }>

export function createApp(options: AppOptions): App {
  const { bodyLimit = 10 << 20 } = options
  const { eventStream } = options
  const core = coreRoutes({ ...options, clients: eventStream.clients, routes: () => routes })
  const routes: Route[] = [...core, eventRoute(eventStream), ...(options.routes ?? [])]
  const limitOf = (route: Route) => Math.max(bodyLimit, route.bodyLimit ?? 0)
  const largest = Math.max(...routes.map(limitOf))
  // A method that an open path does not have also needs no token, so that it gets 405 and not 401.
  const isOpen = (method: string, path: string) => {
    const here = routes.filter((route) => route.path === path)
    return here.some(({ open }) => open) && here.every((route) => route.open || route.method !== method)
  }
  const check = createGuard({ ...options, isOpen })

  const app: App = new Hono()
  app.onError(errorResponse)
  app.notFound((c) => errorResponse(unknownPath(c.req.path)))
  app.use(async (c, next) => {
    const { method, path } = c.req
    const header = (name: string) => c.req.header(name)
    check({ method, path, header, host: new URL(c.req.url).host, incoming: c.env?.incoming })
    checkLength(c, largest)
    await next()
  })
  for (const route of routes)
    app.on(route.method, route.path, async (c) => {
      // Hono serves HEAD with the handler of GET.
      if (c.req.method !== route.method) throw methodNotAllowed(c.req.method, allowedAt(route.path))
      return answer(c, route)
    })
  for (const path of new Set(routes.map((route) => route.path)))
    app.all(path, (c) => {
      throw methodNotAllowed(c.req.method, allowedAt(path))
    })
  for (const path of options.socketPaths ?? [])
    app.all(path, () => {
      throw upgradeRequired(path)
    })
  return app

  function allowedAt(path: string): string[] {
    return routes.filter((route) => route.path === path).map((route) => route.method)
  }

  async function answer(c: Context<{ Bindings: Bindings }>, route: Route): Promise<Response> {
    const limit = limitOf(route)
    checkLength(c, limit)
    const run = async () => {
      const body = route.body && (await readJson(c, limit))
      // If a route takes no body, a chunked one is still read to its end, up to the limit.
      if (!route.body && !route.ownBody && c.req.header("transfer-encoding")) await readBody(c, limit)
      const at = { origin: new URL(c.req.url).origin, port: c.env?.incoming?.socket.localPort }
      const raw = { params: c.req.param(), query: c.req.query(), headers: c.req.header(), body, at }
      const call = checkCall(route, raw)
      if (route.respond) return route.respond(c, call)
      const { status, value } = await callRoute(route, call)
      return jsonResponse(value, { status })
    }
    if (route.instance === false) return run()
    const header = c.req.header("x-vitamin-directory")
    const directory = header === undefined ? options.directory : resolveDirectory(header)
    return Instance.provide({ directory, ...(options.init ? { init: options.init } : {}), fn: run })
  }
}
