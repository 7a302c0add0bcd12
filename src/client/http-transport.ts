// Calls over HTTP, by `fetch`: in Node and in browsers. In a browser the page must come from the server's own origin, since
// the server refuses every other one.
import { ClientError } from "./client-error.ts"
import { createSseParser, type SseBlock } from "./parse-sse.ts"
import type { Call, CallOptions, Connection, Frame, Transport } from "./transport.ts"

export type HttpOptions = {
  /** Of the server, such as `http://127.0.0.1:3141`. */
  url: string
  /** The server's token; without it, a browser sends the cookie `vitamin_token`. */
  token?: string | undefined
  /** The folder to work in: an absolute path on the server's machine. Default: the folder of the server. */
  directory?: string | undefined
  fetch?: typeof globalThis.fetch | undefined
}

/** Milliseconds without a byte after which a connection counts as lost. The server sends a heartbeat every 15 seconds. */
const silence = 45_000

export function createHttpTransport(options: HttpOptions): Transport {
  const { url, token, directory, fetch = globalThis.fetch } = options
  const base = url.replace(/\/+$/, "")
  const common: Record<string, string> = {
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    // A header carries ASCII only.
    ...(directory === undefined
      ? {}
      : { "x-vitamin-directory": encodeURIComponent(directory).replaceAll("%2F", "/") }),
  }

  async function send(path: string, init: RequestInit): Promise<Response> {
    const headers = { ...common, ...(init.headers as Record<string, string>) }
    // A redirect would carry the prompt to another server.
    const response = await fetch(base + path, { ...init, headers, redirect: "error" }).catch((error) => {
      throw lost(error, init.signal, `The server at ${base} cannot be reached`)
    })
    if (!response.ok) throw failureOf(response.status, await read(response, init.signal))
    return response
  }

  async function call({ method, path, query, headers, body }: Call, { signal }: CallOptions) {
    const search = new URLSearchParams(query).toString()
    const response = await send(search ? `${path}?${search}` : path, {
      method,
      headers: { ...headers, ...(body === undefined ? {} : { "content-type": "application/json" }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    })
    const text = await read(response, signal)
    const value = parseJson(text)
    if (value === undefined) throw failureOf(response.status, text)
    return value
  }

  async function connect({ after, signal }: Parameters<Transport["connect"]>[0]): Promise<Connection> {
    const ending = new AbortController()
    const headers = {
      accept: "text/event-stream",
      ...(after === undefined ? {} : { "last-event-id": String(after) }),
    }
    const either = AbortSignal.any([signal, ending.signal])
    const timer = endWhenSilent(ending)
    const response = await send("/event", { headers, signal: either })
      .catch((error) => {
        throw ending.signal.aborted ? lost(error, signal, `The server at ${base} does not answer`) : error
      })
      .finally(() => clearTimeout(timer))
    const cursor = response.headers.get("x-vitamin-cursor")
    return {
      cursor: cursor === null ? undefined : Number(cursor),
      frames: framesOf(response, { ending, signal }),
    }
  }

  return Object.freeze({ call, connect })
}

async function* framesOf(
  response: Response,
  { ending, signal }: { ending: AbortController; signal: AbortSignal },
): AsyncGenerator<Frame, void> {
  const reader = response.body!.getReader()
  const decoder = new TextDecoder()
  const parser = createSseParser()
  try {
    for (;;) {
      const timer = endWhenSilent(ending)
      const part = await reader
        .read()
        .catch((error) => {
          throw lost(error, signal, "The event stream broke")
        })
        .finally(() => clearTimeout(timer))
      if (part.done) return
      for (const block of parser.add(decoder.decode(part.value, { stream: true })))
        yield frameOf(block, signal)
    }
  } finally {
    ending.abort()
  }
}

/** A network that is gone, as after a laptop has slept, ends nothing by itself. */
function endWhenSilent(ending: AbortController): ReturnType<typeof setTimeout> {
  return setTimeout(() => ending.abort(new Error("it is silent")), silence)
}

/** What is no JSON did not come whole: the stream is opened again. */
function frameOf({ id, data }: SseBlock, signal: AbortSignal): Frame {
  const event = data === undefined ? undefined : parseJson(data)
  if (data !== undefined && event === undefined)
    throw lost(new Error("it has something that is no JSON"), signal, "The event stream broke")
  return {
    ...(id === undefined ? {} : { id: Number(id) }),
    ...(data === undefined ? {} : { event: event as Frame["event"] }),
  }
}

function read(response: Response, signal: AbortSignal | null | undefined): Promise<string> {
  return response.text().catch((error) => {
    throw lost(error, signal, "The server's answer broke off")
  })
}

function failureOf(status: number, text: string): ClientError {
  const { error } = (parseJson(text) ?? {}) as { error?: { name: string; message: string; data?: object } }
  if (error?.name)
    return new ClientError({ ...error, status } as ConstructorParameters<typeof ClientError>[0])
  return new ClientError({
    name: "Client.InvalidAnswer",
    message: `The answer with status ${status} does not come from a vitamin server: ${JSON.stringify(text.slice(0, 200))}`,
    status,
  })
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** What a failed `fetch` means: the caller's own abort, or a connection that is lost. */
function lost(error: unknown, signal: AbortSignal | null | undefined, what: string): unknown {
  if (signal?.aborted && signal.reason === error) return error
  const reasons = [error, (error as { cause?: unknown })?.cause].map((one) => (one as Error)?.message)
  const reason = reasons.filter(Boolean).join(": ")
  return new ClientError({
    name: "Client.Unreachable",
    message: `${what}: ${reason}`,
    status: 0,
    cause: error,
  })
}
