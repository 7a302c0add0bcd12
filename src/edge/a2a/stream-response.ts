// Sends the events of a stream to a client as server-sent events, one at a time as the client reads, with comments in
// between that keep the connection open.
import { securityHeaders } from "#edge/server/define-route.ts"
import * as Log from "#kernel/process/log.ts"
import * as Secret from "#kernel/secret/secret.ts"

const heartbeat = 15_000

/** `first` is the first event, which the caller has taken already. The stream ends when `left` aborts. */
export function streamResponse(
  first: IteratorResult<unknown, void>,
  events: AsyncGenerator<unknown, void, undefined>,
  left: AbortSignal,
): Response {
  let isRead = Promise.withResolvers<void>()
  let isOver = false
  const end = () => {
    isOver = true
    isRead.resolve()
  }
  const encoder = new TextEncoder()
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const send = (text: string) => isOver || controller.enqueue(encoder.encode(text))
      const beat = setInterval(() => send(": keep-alive\n\n"), heartbeat)
      // Not in `pull`: the events must be taken in the instance of this call.
      const pump = async () => {
        for (let next = first; !next.done && !isOver; next = await events.next()) {
          send(`data: ${Secret.redactJson(JSON.stringify(next.value))}\n\n`)
          if ((controller.desiredSize ?? 0) <= 0) await isRead.promise
          isRead = Promise.withResolvers()
        }
      }
      left.addEventListener("abort", end, { once: true })
      pump()
        .then(() => isOver || controller.close())
        .catch((error) => {
          Log.error("an A2A stream failed", { error })
          if (!isOver) controller.error(error)
        })
        .finally(() => {
          end()
          clearInterval(beat)
          void events.return()
        })
    },
    pull: () => isRead.resolve(),
    cancel: end,
  })
  const headers = {
    ...securityHeaders,
    "content-type": "text/event-stream; charset=utf-8",
    "x-accel-buffering": "no",
  }
  return new Response(body, { headers })
}
