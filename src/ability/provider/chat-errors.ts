// What went wrong with a request that left, as the errors of the AI SDK: callers handle those of all wire forms alike.
import { APICallError } from "@ai-sdk/provider"

/** The server answered with an HTTP error. */
export async function refused(response: Response, url: string): Promise<APICallError> {
  const responseBody = await response.text().catch(() => "")
  const { status: statusCode, statusText } = response
  return new APICallError({
    message: saidIn(responseBody) || statusText || `The provider answered with status ${statusCode}.`,
    url,
    requestBodyValues: undefined,
    statusCode,
    responseHeaders: Object.fromEntries(response.headers),
    responseBody,
  })
}

/** No answer came at all. Anything but the network's failure is a request that cannot be sent, and stays as it is. */
export function unreachable(error: unknown, url: string): unknown {
  const { cause } = error as { cause?: unknown }
  if (!(error instanceof TypeError && error.message === "fetch failed" && cause instanceof Error))
    return error
  const message = `Cannot connect to API: ${cause.message}`
  return new APICallError({ message, cause, url, requestBodyValues: undefined, isRetryable: true })
}

/** The answer began and its connection broke. */
export function brokenOff(cause: unknown, response: Response, url: string): APICallError {
  return new APICallError({
    message: "Failed to process successful response",
    cause,
    url,
    requestBodyValues: undefined,
    statusCode: response.status,
    responseHeaders: Object.fromEntries(response.headers),
    isRetryable: true,
  })
}

/** The answer itself says that it failed. */
export function faultOf(error: unknown, url: string): Error {
  if (error instanceof Error) return error
  const message = saidIn(JSON.stringify({ error })) || "The provider failed."
  return new APICallError({ message, url, requestBodyValues: undefined, data: error, isRetryable: true })
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
