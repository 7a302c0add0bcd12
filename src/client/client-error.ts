// The one error that a client throws: what the server answered, or why no answer came.

export class ClientError extends Error {
  /** The HTTP status; 0 if no answer came. A call in the same process has the status that HTTP would give. */
  readonly status: number
  readonly data: Record<string, unknown>

  constructor(failure: {
    name: string
    message: string
    status: number
    data?: Record<string, unknown> | undefined
    cause?: unknown
  }) {
    super(failure.message, failure.cause === undefined ? undefined : { cause: failure.cause })
    this.name = failure.name
    this.status = failure.status
    this.data = failure.data ?? {}
  }
}

/** Whether the same request may succeed a moment later. */
export function isTemporary(error: unknown): error is ClientError {
  if (!(error instanceof ClientError)) return false
  return error.status === 0 || error.status >= 500 || [408, 425, 429].includes(error.status)
}
