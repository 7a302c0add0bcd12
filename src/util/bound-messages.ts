// Limits the memory that an HTTP response can take: the size of the whole body or, in an event stream, of each event.

const eventEnds = ["\n\n", "\n\r\n", "\r\r"]

/** Returns the response with a body that fails with `error()` once a message is larger than `limit` bytes. */
export function boundMessages(
  response: Response,
  { limit, error }: { limit: number; error: () => Error },
): Response {
  if (!response.body) return response
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") ?? false
  const bounded = new Response(response.body.pipeThrough(counting({ isStream, limit, error })), response)
  Object.defineProperty(bounded, "url", { value: response.url })
  return bounded
}

function counting(options: { isStream: boolean; limit: number; error: () => Error }) {
  const { isStream, limit, error } = options
  let bytes = 0
  /** The end of an event may be split between two chunks. */
  let tail = Buffer.alloc(0)
  return new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      const seen = Buffer.concat([tail, chunk])
      const end = isStream ? lastEnd(seen) : -1
      bytes = end < 0 ? bytes + chunk.length : seen.length - end
      tail = Buffer.from(seen.subarray(-2))
      if (bytes > limit) controller.error(error())
      else controller.enqueue(chunk)
    },
  })
}

/** Where the last whole event ends, or -1. */
function lastEnd(bytes: Buffer): number {
  const ends = eventEnds.map((end) => {
    const at = bytes.lastIndexOf(end)
    return at < 0 ? -1 : at + end.length
  })
  return Math.max(...ends)
}
