// Errors on the pipe: the name, the text, and the facts that retries depend on. Known secrets are redacted.
import { z } from "zod"
import * as Secret from "#kernel/secret/secret.ts"
import { errorText, NamedError } from "#util/error.ts"

const Facts = z
  .object({
    url: z.string().max(10_000),
    statusCode: z.number(),
    isRetryable: z.boolean(),
    responseBody: z.string(),
    responseHeaders: z.record(z.string(), z.string()),
    code: z.string().max(200),
  })
  .partial()

const Plain = Facts.extend({
  name: z.string().max(200),
  message: z.string().max(100_000),
  data: z.record(z.string(), z.unknown()).optional(),
})
export const WireError = Plain.extend({ cause: Plain.optional() })
export type WireError = z.infer<typeof WireError>

const longest = 20_000

export function toWire(error: unknown): WireError {
  const inner = error instanceof Error ? error.cause : undefined
  const [first = inner] = (inner as Partial<AggregateError> | undefined)?.errors ?? []
  const wire = { ...plainOf(error), ...(first instanceof Error ? { cause: plainOf(first) } : {}) }
  return JSON.parse(Secret.redactJson(JSON.stringify(wire)))
}

export function fromWire({ cause, ...plain }: WireError): Error {
  return errorOf(plain, cause && { cause: errorOf(cause) })
}

function plainOf(error: unknown): z.infer<typeof Plain> {
  const facts = Facts.safeParse(error).data ?? {}
  const { responseBody } = facts
  return {
    ...facts,
    ...(responseBody ? { responseBody: responseBody.slice(0, longest) } : {}),
    name: error instanceof Error ? error.name : "Error",
    message: errorText(error).slice(0, longest),
    ...(error instanceof NamedError ? { data: error.data } : {}),
  }
}

function errorOf({ name, message, data, ...facts }: z.infer<typeof Plain>, options?: ErrorOptions): Error {
  const error = data ? new NamedError(name, message, data, options) : new Error(message, options)
  error.name = name
  return Object.assign(error, facts)
}
