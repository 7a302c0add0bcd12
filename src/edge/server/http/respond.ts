// Creates the JSON responses, errors included: secrets are redacted, and headers forbid browsers to cache the response, to
// guess its type, or to share it with other origins.
import type { HttpBindings } from "@hono/node-server"
import * as Log from "#kernel/process/log.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { NamedError } from "#util/error.ts"
import { Refusal } from "./refusal.ts"
import { statusOf } from "./statuses.ts"

/** The Node request and response; missing if the app is called without a socket (`app.request()`). */
export type Bindings = Partial<HttpBindings>

export const securityHeaders = {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
} as const

export function jsonResponse(
  value: unknown,
  options: { status?: number; headers?: Record<string, string> } = {},
): Response {
  return new Response(Secret.redactJson(JSON.stringify(value) ?? "null"), {
    status: options.status ?? 200,
    headers: { ...securityHeaders, "content-type": "application/json; charset=utf-8", ...options.headers },
  })
}

/** The response for any error. Internal details go to the log only. */
export function errorResponse(error: unknown): Response {
  if (error instanceof Refusal)
    return jsonResponse(errorBody(error), { status: error.status, headers: error.headers })
  if (error instanceof NamedError) {
    const status = statusOf(error.name)
    if (status === 500) Log.error("a request failed", { error })
    return jsonResponse(errorBody(error), { status })
  }
  Log.error("a request failed", { error })
  const message = "The server failed to answer this request. Its log says why."
  return jsonResponse({ error: { name: "Server.Internal", message } }, { status: 500 })
}

export function errorBody({ name, message, data }: NamedError) {
  return { error: { name, message, ...(Object.keys(data).length > 0 ? { data } : {}) } }
}
