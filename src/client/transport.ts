// What a transport does for the client: one call with its answer, and one connection to the event stream. The client builds
// calls and reconnects; a transport knows nothing about routes or replay.
import type { Event, GapEvent } from "./types.ts"

export type Call = {
  /** The id of the route, which is the name of the client's function. */
  id: string
  method: string
  /** With the parameters filled in. */
  path: string
  params: Record<string, string>
  query: Record<string, string>
  headers: Record<string, string>
  /** Undefined if the route takes no body. */
  body?: unknown
}

export type CallOptions = { signal?: AbortSignal | undefined }

/** A part of the event stream. A frame without an event only moves the cursor. */
export type Frame = { id?: number | undefined; event?: Event | GapEvent | undefined }

export type Connection = {
  /** The id after which the stream starts, if the client sent none. */
  cursor?: number | undefined
  /** Ends or throws when the connection is lost. */
  frames: AsyncIterable<Frame>
}

export type Transport = Readonly<{
  /** Throws `ClientError`, or the reason of the signal. */
  call(call: Call, options: CallOptions): Promise<unknown>
  /** Events from now on, or after an id. */
  connect(options: { after?: number | undefined; signal: AbortSignal }): Promise<Connection>
}>
