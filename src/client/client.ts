// The client of vitamin: one typed function for each route, and the event stream with replay. `createHttpTransport` reaches
// a server; `edge/server/local-transport.ts` calls the same routes in this process. It imports nothing of ours and nothing
// of Node, so that it runs in browsers too.
import { ClientError } from "./client-error.ts"
import { type FollowOptions, followEvents, type StreamEvent } from "./follow-events.ts"
import { type RouteInfo, routes } from "./routes.ts"
import type { Call, CallOptions, Transport } from "./transport.ts"
import type { Api } from "./types.ts"

export { ClientError } from "./client-error.ts"
export type { Connected, Disconnected, FollowOptions, StreamEvent } from "./follow-events.ts"
export { createHttpTransport, type HttpOptions } from "./http-transport.ts"
export type { Call, CallOptions, Connection, Frame, Transport } from "./transport.ts"
export type * from "./types.ts"

export type Client = Readonly<
  Api & {
    /** The events of the folder from now on. It reconnects after a drop and continues where it was; `connected`,
     * `disconnected` and `gap` say so. It ends when the signal aborts, and throws if the server refuses it. */
    events(options?: FollowOptions): AsyncGenerator<StreamEvent, void>
  }
>

type Input = Record<string, unknown>

export function createClient(transport: Transport): Client {
  const calls = Object.entries<RouteInfo>(routes).map(([id, route]) => [
    id,
    async (input: Input = {}, options: CallOptions = {}) => transport.call(callOf(id, route, input), options),
  ])
  return Object.freeze({
    ...Object.fromEntries(calls),
    events: (options: FollowOptions = {}) => followEvents(transport, options),
  })
}

/** Divides the input among path, query, headers and body. */
function callOf(id: string, route: RouteInfo, input: Input): Call {
  const params: Call["params"] = {}
  const path = route.path.replace(/:(\w+)/g, (_, name: string) => {
    params[name] = checkParam(id, name, input[name])
    return encodeURIComponent(params[name])
  })
  const taken = new Set([...Object.keys(params), ...(route.query ?? []), ...(route.headers ?? [])])
  const rest = Object.entries(input).filter(([name]) => !taken.has(name))
  return {
    id,
    method: route.method,
    path,
    params,
    query: texts(input, route.query),
    headers: texts(input, route.headers),
    ...(route.body ? { body: Object.fromEntries(rest) } : {}),
  }
}

/** A URL parser would turn a segment of dots, or none, into another path. */
function checkParam(id: string, name: string, value: unknown): string {
  const text = value === undefined || value === null ? "" : String(value)
  if (text !== "" && !/^\.{1,2}$|[/\\\0]/.test(text)) return text
  throw new ClientError({
    name: "Client.InvalidParameter",
    message: `${id} needs "${name}": a name or an id, not ${JSON.stringify(value)}.`,
    status: 400,
    data: { name },
  })
}

function texts(input: Input, names: readonly string[] = []): Record<string, string> {
  const given = names.filter((name) => input[name] !== undefined)
  return Object.fromEntries(given.map((name) => [name, String(input[name])]))
}
