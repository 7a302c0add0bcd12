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

/** For docs/cli.md. */
export const exitMeanings: Record<keyof typeof exitCodes, string> = {
  done: "done",
  failed: "failed; stderr says why in one line",
  usage: "the command line is wrong",
  denied:
    "something that was needed was denied, by a rule, by plan mode, by you, or because nobody could be asked",
  interrupted: "interrupted, by Ctrl-C",
  terminated: "terminated, by SIGTERM",
}

/** The command line itself is wrong. */
export class UsageError extends NamedError {
  constructor(message: string) {
    super("Usage", message)
  }
}
