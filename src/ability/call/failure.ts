// Converts an error of a call into a result. The model can act on a `NamedError`; anything else is a fault of ours or
// of the machine.
import { inspect } from "node:util"
import * as Secret from "#kernel/process/secret.ts"
import { errorCode, NamedError } from "#util/error.ts"
import { boundText } from "./bound.ts"
import type { Result } from "./call-types.ts"
import type { Context } from "./types.ts"

const maxStack = 4_000
const ordinary = new Set(
  "ENOENT ENOTDIR EISDIR EACCES EPERM EEXIST ENAMETOOLONG ELOOP ENOTEMPTY ETIMEDOUT ECONNREFUSED".split(" "),
)

/** A slot refused the call. */
export class Refused extends NamedError {
  readonly by: "constraint" | "permission"

  constructor(by: "constraint" | "permission", message: string) {
    super("Tool.Refused", message, { by })
    this.by = by
  }
}

/** The result for any thrown value. After an abort it is "interrupted", whatever the tool threw. */
export async function failure(error: unknown, context: Context): Promise<Omit<Result, "duration">> {
  const interrupted = context.signal.aborted
  const message = await boundText(interrupted ? "The call was interrupted." : messageOf(error), context)
  const stack = error instanceof Error && !interrupted ? error.stack : undefined
  return {
    status: interrupted ? "interrupted" : "error",
    text: message,
    error: {
      message,
      ...(typeof stack === "string" ? { stack: Secret.redact(stack).slice(0, maxStack) } : {}),
      recoverable: interrupted || isRecoverable(error),
    },
    ...(error instanceof Refused && !interrupted ? { refused: error.by } : {}),
  }
}

function messageOf(error: unknown): string {
  if (typeof error === "string" && error) return error
  return error instanceof Error && error.message ? String(error.message) : inspect(error)
}

function isRecoverable(error: unknown): boolean {
  return error instanceof NamedError || ordinary.has(errorCode(error) ?? "")
}
