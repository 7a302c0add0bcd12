// Creates the JSON responses, errors included: secrets are redacted, and headers forbid browsers to cache the response, to
// guess its type, or to share it with other origins.
import type { HttpBindings } from "@hono/node-server"
import type { Context } from "hono"
import * as Log from "#kernel/process/log.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { NamedError } from "#util/error.ts"
import { Refusal } from "./refusal.ts"
import { statusOf } from "./statuses.ts"

/** `Bindings`: the Node request and response; missing if the app is called without a socket (`app.request()`). `browser`: the
 * id of the signed-in browser that asks. */
export type Setting = { Bindings: Partial<HttpBindings>; Variables: { browser: string | undefined } }
/** A request, as handlers get it. */
export type HttpContext = Context<Setting>

type Failure = { error: { name: string; message: string; data?: Record<string, unknown> } }

export const securityHeaders = {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
} as const

/** Seconds after which a client that was told "too many" may try again. */
const retryAfter = "5"

export function jsonResponse(
  value: unknown,
  options: { status?: number; headers?: Record<string, string> } = {},
): Response {
  return new Response(Secret.redactJson(JSON.stringify(value) ?? "null"), {
    status: options.status ?? 200,
    headers: { ...securityHeaders, "content-type": "application/json; charset=utf-8", ...options.headers },
  })
}

/** The response for any error. */
export function errorResponse(error: unknown): Response {
  const { status, body } = failureOf(error)
  const headers =
    error instanceof Refusal ? error.headers : status === 429 ? { "retry-after": retryAfter } : {}
  return jsonResponse(body, { status, headers })
}

/** The status and the body for any error. Internal details go to the log only. */
export function failureOf(error: unknown): { status: number; body: Failure } {
  const status = statusFor(error)
  if (error instanceof Refusal) return { status, body: errorBody(error) }
  if (status === 500) Log.error("a request failed", { error })
  if (error instanceof NamedError) return { status, body: errorBody(error) }
  const message = "The server failed to answer this request. Its log says why."
  return { status, body: { error: { name: "Server.Internal", message } } }
}

export function statusFor(error: unknown): number {
  if (error instanceof Refusal) return error.status
  return error instanceof NamedError ? statusOf(error.name) : 500
}

export function errorBody({ name, message, data }: NamedError): Failure {
  return { error: { name, message, ...(Object.keys(data).length > 0 ? { data } : {}) } }
}
