// Where a client's bytes go: the Node response itself, since web streams cannot carry a hundred clients, or a web
// stream where there is no Node response.
import type { ServerResponse } from "node:http"

/** `write` gives false when the client should be left alone until `drained` is called. */
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
