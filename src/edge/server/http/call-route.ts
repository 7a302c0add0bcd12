// Calls the handler of a route with checked values, and checks its result. The HTTP server and the local transport use it.
import type { z } from "zod"
import { invalidRequest } from "./refusal.ts"
import { acceptedValue, type RawCall, type Route } from "./route.ts"

/** The values of a request as the schemas of the route give them. Throws `InvalidRequest` with the place that is wrong. */
export function checkCall(route: Route, raw: RawCall) {
  return {
    params: parse(route.params, raw.params, "path"),
    query: parse(route.query, raw.query, "query"),
    headers: parse(route.headers, raw.headers, "header"),
    body: parse(route.body, raw.body, "body"),
    at: raw.at,
  }
}

export async function callRoute(
  route: Route,
  call: ReturnType<typeof checkCall>,
): Promise<{ status: 200 | 202; value: unknown }> {
  const result = await route.handle?.(call)
  const accepted = acceptedValue(result)
  if (accepted !== undefined && route.accepted) return { status: 202, value: route.accepted.parse(accepted) }
  return { status: 200, value: route.response.parse(result) }
}

function parse(schema: z.ZodType | undefined, value: unknown, place: string): unknown {
  if (!schema) return undefined
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  throw invalidRequest([place, ...(issue?.path ?? [])].join("."), issue?.message ?? "it does not fit")
}
