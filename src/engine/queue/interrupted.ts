// The error of a prompt that was stopped before its end.
import { NamedError } from "#util/error.ts"

export class Interrupted extends NamedError {
  constructor(sessionId: string, signal: AbortSignal) {
    super("Session.Interrupted", `Session ${sessionId} was interrupted: ${reasonOf(signal)}.`, { sessionId })
  }
}

function reasonOf({ reason }: AbortSignal): string {
  if ((reason as Error | undefined)?.name === "TimeoutError") return "its time was up"
  return typeof reason === "string" ? reason : "it was aborted"
}
