// The base of all our errors. Edges and scripts rely on the name ("Storage.NotFound"); `data` has the values that the
// failure is about.

export class NamedError extends Error {
  readonly data: Record<string, unknown>

  constructor(name: string, message: string, data: Record<string, unknown> = {}, options?: ErrorOptions) {
    super(message, options)
    this.name = name
    this.data = data
  }
}

/** The code of a failed system call ("ENOENT"), or undefined for any other value. */
export function errorCode(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | undefined)?.code
  return typeof code === "string" ? code : undefined
}

/** Whether a system call failed because there is no such file or folder. */
export function isMissing(error: unknown): boolean {
  const code = errorCode(error)
  return code === "ENOENT" || code === "ENOTDIR"
}

/** One line about any thrown value. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
