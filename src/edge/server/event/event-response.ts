// The answer to GET /event: headers, then the client's share of the event stream for as long as it stays.
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response"
import type { Context } from "hono"
import { type Bindings, securityHeaders } from "#edge/server/http/respond.ts"
import { createResponseSink, createStreamSink } from "./event-sink.ts"
import type { EventStream } from "./event-stream.ts"

/** With a directory only its events are sent. */
export function eventResponse(
  c: Context<{ Bindings: Bindings }>,
  stream: EventStream,
  directory: string | undefined,
): Response {
  const headers = () => ({
    ...securityHeaders,
    "content-type": "text/event-stream; charset=utf-8",
    "x-accel-buffering": "no",
    "x-vitamin-cursor": String(stream.lastId()),
  })
  const request = { lastEventId: c.req.header("last-event-id")?.trim() || undefined, directory }
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
