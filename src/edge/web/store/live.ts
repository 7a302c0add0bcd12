// The event stream of all folders. One connection serves every view; it comes back by itself and continues where it was.
import { signal } from "@preact/signals"
import type { StreamEvent } from "#client/client.ts"
import { allowRequests, clientFor, isSignedOut } from "#edge/web/base/api.ts"
import { report } from "./problems.ts"

type Listener = (event: StreamEvent) => void

export const connection = signal<"connecting" | "open" | "lost" | "signed out">("connecting")
const listeners = new Set<Listener>()
/** Milliseconds that requests wait for the stream to open. */
const patience = 1_000

/** Returns a function that stops listening. */
export function listen(listener: Listener): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

export async function followEvents(): Promise<void> {
  let isLate = false
  const goOn = () => {
    isLate = true
    allowRequests()
  }
  const timer = setTimeout(goOn, patience)
  try {
    for await (const event of clientFor().events()) {
      clearTimeout(timer)
      if (event.type === "disconnected") {
        // The server cuts the stream of a browser that signs out.
        if (connection.value !== "signed out") connection.value = "lost"
        goOn()
      }
      if (event.type === "connected") {
        connection.value = "open"
        // What was read without the stream must be read again, as after a lost connection.
        event.isResumed ||= isLate
        allowRequests()
      }
      if (isReadable(event)) for (const listener of listeners) tell(listener, event)
    }
  } catch (error) {
    clearTimeout(timer)
    goOn()
    connection.value = isSignedOut(error) ? "signed out" : "lost"
    if (!isSignedOut(error)) report(error)
  }
}

/** A server of another version may send events that this page does not know. */
function isReadable(event: StreamEvent): boolean {
  if (typeof event !== "object" || event === null || typeof event.type !== "string") return false
  if (!/^(message|session|tool|permission|elicitation)\./.test(event.type)) return true
  const { payload } = event as { payload?: Record<string, unknown> }
  if (typeof payload !== "object" || payload === null) return false
  const { message, session, text } = payload as {
    message?: { id: unknown; type: unknown; data: unknown }
    session?: { id: unknown; usage: unknown; time: unknown }
    text: unknown
  }
  if (/^message\.(created|updated)$/.test(event.type))
    return typeof message?.id === "string" && typeof message.data === "object" && message.data !== null
  if (/^session\.(created|updated)$/.test(event.type))
    return (
      typeof session?.id === "string" && typeof session.usage === "object" && typeof session.time === "object"
    )
  if (/^(permission|elicitation)\.requested$/.test(event.type)) return isQuestion(payload)
  return !/\.(delta|progress)$/.test(event.type) || typeof text === "string"
}

function isQuestion({ id, needs, message }: Record<string, unknown>): boolean {
  return typeof id === "string" && (Array.isArray(needs) || typeof message === "string")
}

/** A view that cannot read an event must not stop the others. */
function tell(listener: Listener, event: StreamEvent): void {
  try {
    listener(event)
  } catch (error) {
    report(error)
  }
}
