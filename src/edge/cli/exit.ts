// Exit codes, and the errors that ask for one.
import { NamedError } from "#util/error.ts"

export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  denied: 3,
  interrupted: 130,
  terminated: 143,
} as const

/** The command line itself is wrong. */
export class UsageError extends NamedError {
  constructor(message: string) {
    super("Usage", message)
  }
}
