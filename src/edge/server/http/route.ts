// A route is declared once, with the schemas of its request and response. Both the handler and the OpenAPI document use
// the declaration, so they cannot disagree.
import type { Context } from "hono"
import type { z } from "zod"
import type { Bindings } from "./respond.ts"

type Call<P, Q, H, B> = { params: P; query: Q; headers: H; body: B; c: Context<{ Bindings: Bindings }> }
type Any = z.ZodType
type None = z.ZodType<undefined>

type Declaration<P extends Any, Q extends Any, H extends Any, B extends Any, R extends Any> = {
  /** The operationId: generated clients use it as a function name. */
  id: string
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  /** Parameters as `:name`. */
  path: string
  summary: string
  params?: P
  query?: Q
  /** Headers that the route reads, with names in lower case. */
  headers?: H
  body?: B
  response: R
  /** The body of a 202 response; the handler then returns the Response itself. */
  accepted?: z.ZodType
  /** Error statuses of this route, in addition to those that every route has. */
  errors?: number[]
  /** Whether the route needs no token. */
  open?: boolean
  /** False if the route does not run in the instance of the request's directory. */
  instance?: boolean
  /** In bytes, if larger bodies than usual are accepted. */
  bodyLimit?: number
  /** The content type if it is not JSON; the handler then returns the Response itself. */
  contentType?: string
  handle(
    call: Call<z.output<P>, z.output<Q>, z.output<H>, z.output<B>>,
  ): Response | z.input<R> | Promise<Response | z.input<R>>
}

export type Route = Readonly<
  Omit<Declaration<Any, Any, Any, Any, Any>, "handle"> & {
    handle(call: Call<unknown, unknown, unknown, unknown>): unknown
  }
>

export function defineRoute<
  R extends Any,
  P extends Any = None,
  Q extends Any = None,
  H extends Any = None,
  B extends Any = None,
>(declaration: Declaration<P, Q, H, B, R>): Route {
  return Object.freeze(declaration) as Route
}
