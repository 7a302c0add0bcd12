// GET /event: events of this process over HTTP. A call in the same process subscribes to the GlobalBus instead.
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response"
import { z } from "zod"
import { createResponseSink, createStreamSink } from "#edge/server/event/event-sink.ts"
import type { EventStream } from "#edge/server/event/event-stream.ts"
import { resolveDirectory } from "#edge/server/http/directory.ts"
import { type HttpContext, securityHeaders } from "#edge/server/http/respond.ts"
import { defineHttpRoute, type Route } from "#edge/server/http/route.ts"
import { createEventFilter } from "#edge/server/people/event-filter.ts"
import type { BrowserSessions } from "#edge/server/web/browser-sessions.ts"
import * as Person from "#kernel/person.ts"

/** The stream of a browser ends when it is signed out. */
export function eventRoute(eventStream: EventStream, browsers: BrowserSessions | undefined): Route {
  return defineHttpRoute({
    id: "followEvents",
    method: "GET",
    role: "reader",
    path: "/event",
    summary:
      "All events as they happen; of one directory with x-vitamin-directory. Last-Event-ID replays. A person gets the events of the sessions that they may see.",
    response: z.string(),
    headers: z.object({
      "x-vitamin-directory": z.string().optional().describe("only the events of this folder"),
      "last-event-id": z.string().optional().describe("send everything after this id first"),
    }),
    contentType: "text/event-stream",
    instance: false,
    respond(c, { headers }) {
      const directory = headers["x-vitamin-directory"]
      const [browser, outgoing] = [c.get("browser"), c.env?.outgoing]
      if (browser !== undefined && browsers && outgoing)
        outgoing.once(
          "close",
          browsers.onRemoved(browser, () => void outgoing.destroy()),
        )
      return eventResponse(c, eventStream, directory === undefined ? undefined : resolveDirectory(directory))
    },
  })
}

/** The response of GET /event: headers, then events until the client disconnects. With a directory, only events of that
 * directory. */
function eventResponse(c: HttpContext, stream: EventStream, directory: string | undefined): Response {
  const headers = () => ({
    ...securityHeaders,
    "content-type": "text/event-stream; charset=utf-8",
    "x-accel-buffering": "no",
    "x-vitamin-cursor": String(stream.lastId()),
  })
  const person = Person.limited()
  const request = {
    lastEventId: c.req.header("last-event-id")?.trim() || undefined,
    directory,
    ...(person ? { filter: createEventFilter(person) } : {}),
  }
  const response = c.env?.outgoing
  if (response) {
    stream.open((events) => {
      response.writeHead(200, headers())
      return createResponseSink(response, events)
    }, request)
    return RESPONSE_ALREADY_SENT
  }
  let body: ReadableStream<Uint8Array> | undefined
  stream.open((events) => {
    const made = createStreamSink(events)
    body = made.body
    return made.sink
  }, request)
  return new Response(body ?? null, { headers: headers() })
}
