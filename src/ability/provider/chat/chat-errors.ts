// Creates the errors of requests as errors of the AI SDK, so that callers handle all wire forms alike.
import { APICallError } from "@ai-sdk/provider"
import { errorCode, NamedError } from "#util/error.ts"
import type { Reply } from "./post.ts"

const maxErrorBody = 1 << 20

/** The server answered with an HTTP error. */
export async function refused(reply: Reply, url: string): Promise<APICallError> {
  const { status: statusCode, statusText, headers: responseHeaders } = reply
  const responseBody = await textOf(reply).catch(() => "")
  return new APICallError({
    message: saidIn(responseBody) || statusText || `The provider answered with status ${statusCode}.`,
    url,
    requestBodyValues: undefined,
    statusCode,
    responseHeaders,
    responseBody,
  })
}

/** No answer came at all. Only errors of the network are wrapped; with any other error the request could not be sent. */
export function unreachable(error: unknown, url: string): unknown {
  const isOurs = [TypeError, RangeError, NamedError].some((kind) => error instanceof kind)
  if (!(error instanceof Error) || isOurs) return error
  // A host with several addresses has an error for each, and the whole has no message.
  const [first = error] = (error as Partial<AggregateError>).errors ?? []
  const message = `Cannot connect to API: ${first.message || errorCode(error)}`
  return new APICallError({ message, cause: error, url, requestBodyValues: undefined, isRetryable: true })
}

/** The connection broke during the answer. */
export function brokenOff(cause: unknown, reply: Reply, url: string): Error {
  if (cause instanceof NamedError) return cause
  return new APICallError({
    message: "Failed to process successful response",
    cause,
    url,
    requestBodyValues: undefined,
    statusCode: reply.status,
    responseHeaders: reply.headers,
    isRetryable: true,
  })
}

/** The stream contains an error. */
export function faultOf(error: unknown, url: string): Error {
  if (error instanceof Error) return error
  const message = saidIn(JSON.stringify({ error })) || "The provider failed."
  return new APICallError({ message, url, requestBodyValues: undefined, data: error, isRetryable: true })
}

/** The start of the body: messages about errors are short. */
async function textOf({ body }: Reply): Promise<string> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of body) {
    parts.push(part)
    size += part.length
    if (size > maxErrorBody) break
  }
  return Buffer.concat(parts).toString()
}

function saidIn(body: string): string | undefined {
  try {
    const { error, message } = JSON.parse(body) as { error?: unknown; message?: unknown }
    const said =
      typeof error === "object" && error !== null ? (error as { message?: unknown }).message : error
    return [said, message].find((text): text is string => typeof text === "string")
  } catch {
    return undefined
  }
}
