// Errors about the record of a session.
import { NamedError } from "#util/error.ts"

export class NotFound extends NamedError {
  constructor(sessionId: string) {
    super(
      "Session.NotFound",
      `Session ${sessionId} does not exist. "vitamin session list" shows those of this project.`,
      {
        sessionId,
      },
    )
  }
}

export class Busy extends NamedError {
  constructor(sessionId: string, where: string) {
    super("Session.Busy", `Session ${sessionId} is busy ${where}.`, { sessionId })
  }
}

export class Invalid extends NamedError {
  constructor(sessionId: string, reason: string) {
    super("Session.Invalid", `The record of session ${sessionId} is not valid: ${reason}`, { sessionId })
  }
}
