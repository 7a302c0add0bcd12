// Fetches a small document whole, with a time limit, a size limit, and no redirects.
import { errorText } from "#util/error.ts"

export async function fetchBytes(options: {
  url: string
  timeout: number
  maxBytes: number
  signal?: AbortSignal
}): Promise<Buffer> {
  const { url, timeout, maxBytes, signal } = options
  const late = AbortSignal.timeout(timeout)
  const response = await fetch(url, {
    signal: signal ? AbortSignal.any([signal, late]) : late,
    redirect: "error",
    headers: { accept: "application/json" },
  })
  if (!response.ok || !response.body) {
    await response.body?.cancel()
    throw new Error(`the server answered ${response.status}`)
  }
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body) {
    size += chunk.byteLength
    if (size > maxBytes) throw new Error(`the answer is longer than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** The reason of a failed fetch: its message is only "fetch failed", the reason is in the cause. */
export function fetchFailure(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof Error && cause.message ? cause.message : errorText(error)
}
