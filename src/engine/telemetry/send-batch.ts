// Sends one batch to the collector. Redirects are not followed: the headers and the contents must not reach another place.
import { gzipSync } from "node:zlib"
import { errorText } from "#util/error.ts"
import type { Target } from "./settings.ts"

/** `rejected`: how many records a collector refused although it took the batch. `retryAfter`: milliseconds that it asks for. */
export type Outcome =
  | { isTaken: true; rejected: number; reason?: string }
  | { isTaken: false; reason: string; canRetry: boolean; retryAfter?: number | undefined }

/** Of an answer; it is short. */
const mostBytes = 64 << 10
const retried = new Set([429, 502, 503, 504])

export function sendBatch(target: Target, body: string, signal: AbortSignal): Promise<Outcome> {
  const bytes = target.gzip ? gzipSync(body) : Buffer.from(body)
  const url = new URL(target.url)
  const { request } = process.getBuiltinModule(url.protocol === "https:" ? "node:https" : "node:http")
  return new Promise((resolve) => {
    const failed = (error: unknown) => {
      clearTimeout(timer)
      signal.removeEventListener("abort", stop)
      resolve({ isTaken: false, reason: errorText(error) || "the connection failed", canRetry: true })
    }
    const sent = request(url, {
      method: "POST",
      headers: {
        "user-agent": "vitamin",
        ...target.headers,
        "content-type": "application/json",
        "content-length": bytes.length,
        ...(target.gzip ? { "content-encoding": "gzip" } : {}),
      },
    })
    const stop = () => void sent.destroy(new Error("the program ended first"))
    const late = () => void sent.destroy(new Error(`no answer within ${target.timeout} ms`))
    const timer = setTimeout(late, target.timeout)
    signal.addEventListener("abort", stop, { once: true })
    if (signal.aborted) stop()
    sent.on("error", failed).on("response", (response) => {
      let text = ""
      let size = 0
      response.setEncoding("utf8").on("data", (piece: string) => {
        size += piece.length
        if (size <= mostBytes) text += piece
        else response.destroy()
      })
      response.on("close", () => {
        clearTimeout(timer)
        signal.removeEventListener("abort", stop)
        resolve(outcomeOf(response.statusCode ?? 0, text, response.headers["retry-after"]))
      })
      response.on("error", () => {})
    })
    sent.end(bytes)
  })
}

function outcomeOf(status: number, text: string, retryAfter: string | undefined): Outcome {
  if (status >= 200 && status <= 299) return takenOf(text)
  return {
    isTaken: false,
    reason: `it answered ${status}`,
    canRetry: retried.has(status),
    retryAfter: waitOf(retryAfter),
  }
}

/** A collector that says nothing readable has taken everything. */
function takenOf(text: string): Outcome {
  try {
    const { partialSuccess } = JSON.parse(text) ?? {}
    const { errorMessage, ...counts } = (partialSuccess ?? {}) as Record<string, unknown>
    const rejected = Math.max(0, ...Object.values(counts).map((count) => Number(count) || 0))
    const reason = typeof errorMessage === "string" ? { reason: errorMessage.slice(0, 200) } : {}
    return { isTaken: true, rejected, ...reason }
  } catch {
    return { isTaken: true, rejected: 0 }
  }
}

function waitOf(text: string | undefined): number | undefined {
  if (!text) return undefined
  const seconds = Number(text)
  const wait = Number.isFinite(seconds) ? seconds * 1_000 : Date.parse(text) - Date.now()
  return Number.isNaN(wait) ? undefined : Math.max(0, wait)
}
