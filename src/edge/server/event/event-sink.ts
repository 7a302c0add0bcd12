// Where a client's bytes are written: the Node response, since web streams are too slow for a hundred clients, or a web
// stream if there is no Node response (`app.request()`).
import type { ServerResponse } from "node:http"

/** Backpressure: after `write` returned false, nothing is written until `drained` is called. */
export type Sink = Readonly<{
  write(bytes: Uint8Array): boolean
  end(): void
  destroy(): void
}>
export type SinkEvents = { drained: () => void; closed: () => void }

export function createResponseSink(response: ServerResponse, events: SinkEvents): Sink {
  response.on("drain", events.drained)
  response.once("close", events.closed)
  response.on("error", events.closed)
  return Object.freeze({
    write: (bytes) => response.write(bytes),
    end: () => void response.end(),
    destroy: () => void response.destroy(),
  })
}

export function createStreamSink(events: SinkEvents): { sink: Sink; body: ReadableStream<Uint8Array> } {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  const body = new ReadableStream<Uint8Array>(
    {
      start(given) {
        controller = given
      },
      pull: events.drained,
      cancel: events.closed,
    },
    { highWaterMark: 64 << 10, size: (bytes) => bytes.length },
  )
  const sink: Sink = Object.freeze({
    write(bytes) {
      controller?.enqueue(bytes)
      return (controller?.desiredSize ?? 0) > 0
    },
    end: () => controller?.close(),
    destroy: () => controller?.error(new Error("The client was too slow")),
  })
  return { sink, body }
}
