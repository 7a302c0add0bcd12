// The Hono app: every request passes the guard, then finds its route, then runs in the instance of its directory. One
// error handler converts everything that is thrown.
import type { Socket } from "node:net"
import { Hono } from "hono"
import { isAddress } from "#ability/checkout/address.ts"
import type { EventStream } from "#edge/server/event/event-stream.ts"
import { checkLength, readBody, readJson } from "#edge/server/http/body.ts"
import { callRoute, checkCall } from "#edge/server/http/call-route.ts"
import { resolveDirectory } from "#edge/server/http/directory.ts"
import { methodNotAllowed, unknownPath, upgradeRequired } from "#edge/server/http/refusal.ts"
import {
  errorResponse,
  type HttpContext,
  jsonResponse,
  type Setting,
  statusFor,
} from "#edge/server/http/respond.ts"
import type { Route } from "#edge/server/http/route.ts"
import type { Audit } from "#edge/server/people/audit.ts"
import { checkFolder, checkRole, checkSession } from "#edge/server/people/check-role.ts"
import type { Presence } from "#edge/server/people/presence.ts"
import { coreRoutes } from "#edge/server/routes/core-routes.ts"
import { eventRoute } from "#edge/server/routes/event-route.ts"
import { peopleRoutes } from "#edge/server/routes/people-routes.ts"
import { browserRoutes } from "#edge/server/web/browser-routes.ts"
import type { BrowserSessions } from "#edge/server/web/browser-sessions.ts"
import type { PageFiles } from "#edge/server/web/page-files.ts"
import { Instance } from "#kernel/instance.ts"
import * as Person from "#kernel/person.ts"
import type { Across } from "./across.ts"
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
  /** Browsers that have signed in, and the files of the page that they show. */
  browsers?: BrowserSessions
  page?: PageFiles
  /** What persons have open, and the log of what they did. */
  presence?: Presence
  audit?: Audit
  /** How other workers of the database are asked. */
  across?: Across | undefined
}
type App = Hono<Setting>

export function createApp(options: AppOptions): App {
  const { bodyLimit = 10 << 20 } = options
  const { eventStream, page } = options
  const core = coreRoutes({ ...options, clients: eventStream.clients, routes: () => routes })
  const routes: Route[] = [
    ...core,
    eventRoute(eventStream, options.browsers),
    ...browserRoutes(options.browsers),
    ...peopleRoutes(options.presence),
    ...(options.routes ?? []),
  ]
  options.across?.serve(routes)
  const limitOf = (route: Route) => Math.max(bodyLimit, route.bodyLimit ?? 0)
  const largest = Math.max(...routes.map(limitOf))
  const isFree = ({ role }: Route) => role === "open"
  // A method that an open path does not have also needs no token, so that it gets 405 and not 401.
  const isOpen = (method: string, path: string) => {
    const here = routes.filter((route) => route.path === path)
    return here.some(isFree) && here.every((route) => isFree(route) || route.method !== method)
  }
  const isPage = (path: string) => page?.has(path) ?? false
  const check = createGuard({ ...options, isOpen, isPage })

  const app: App = new Hono()
  app.onError(errorResponse)
  app.notFound((c) => errorResponse(unknownPath(c.req.path)))
  app.use(async (c, next) => {
    const { method, path } = c.req
    const header = (name: string) => c.req.header(name)
    const asked = { method, path, header, host: new URL(c.req.url).host, incoming: c.env?.incoming }
    const { browser, person } = (await check(asked)) ?? {}
    c.set("browser", browser)
    checkLength(c, largest)
    if (method === "GET" && isPage(path)) return page!.respond(path, header)
    if (!person) return next()
    const { outgoing } = c.env ?? {}
    if (outgoing)
      outgoing.once("close", options.presence?.watch(person, () => outgoing.destroy()) ?? (() => {}))
    return Person.run(person, next)
  })
  for (const route of routes)
    app.on(route.method, route.path, async (c) => {
      // Hono serves HEAD with the handler of GET.
      if (c.req.method !== route.method) throw methodNotAllowed(c.req.method, allowedAt(route.path))
      return options.audit ? audited(c, route, options.audit) : answer(c, route)
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

  async function audited(c: HttpContext, route: Route, { record }: Audit): Promise<Response> {
    const isReading = route.method === "GET"
    const end = async (status: number) => {
      const done = { person: Person.current(), action: route.id, target: c.req.path, result: String(status) }
      const recorded = route.role === "open" ? undefined : record({ ...done, isReading })
      if (!isReading) await recorded
    }
    try {
      const response = await answer(c, route)
      await end(response.status)
      return response
    } catch (error) {
      await end(statusFor(error))
      throw error
    }
  }

  async function answer(c: HttpContext, route: Route): Promise<Response> {
    checkRole(route)
    const limit = limitOf(route)
    checkLength(c, limit)
    const header = route.instance === false ? undefined : c.req.header("x-vitamin-directory")
    const directory = header === undefined ? options.directory : resolveDirectory(header)
    const run = async () => {
      const body = route.body && (await readJson(c, limit))
      // If a route takes no body, a chunked one is still read to its end, up to the limit.
      if (!route.body && !route.ownBody && c.req.header("transfer-encoding")) await readBody(c, limit)
      const at = { origin: new URL(c.req.url).origin, port: c.env?.incoming?.socket.localPort }
      const raw = { params: c.req.param(), query: c.req.query(), headers: c.req.header(), body, at }
      const call = checkCall(route, raw)
      await checkSession(route, call.params)
      if (route.respond) return route.respond(c, call)
      const local = () => callRoute(route, call)
      const { status, value } =
        route.across && options.across
          ? await options.across.answer(route, { raw, directory }, local)
          : await local()
      return jsonResponse(value, { status })
    }
    if (route.instance === false) return run()
    await checkFolder(directory, options.directory)
    const folder = isAddress(directory) ? await openCheckout(c, route, directory) : directory
    return Instance.provide({ directory: folder, ...(options.init ? { init: options.init } : {}), fn: run })
  }
}

/** The folder on this machine for the address of a project: the checkout of the session that the path names, if it names
 * one. */
async function openCheckout(c: HttpContext, route: Route, place: string): Promise<string> {
  const { open } = await import("#ability/checkout/checkout.ts")
  return open(place, route.path.startsWith("/session/:id") ? c.req.param("id") : undefined)
}
