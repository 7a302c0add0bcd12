// A route is declared once, with the schemas of what goes in and comes out. The handlers and the OpenAPI document are
// both made from the declaration, so they cannot disagree.
import type { Context } from "hono"
import type { z } from "zod"
import type { Bindings } from "./respond.ts"

type Call<P, Q, H, B> = { params: P; query: Q; headers: H; body: B; c: Context<{ Bindings: Bindings }> }
type Any = z.ZodType
type None = z.ZodType<undefined>

type Declaration<P extends Any, Q extends Any, H extends Any, B extends Any, R extends Any> = {
  /** The operationId, which generated clients name their functions after. */
  id: string
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  /** Parameters as `:name`. */
  path: string
  summary: string
  params?: P
  query?: Q
  /** Headers that the route itself reads, by their names in lower case. */
  headers?: H
  body?: B
  response: R
  /** What it answers with 202; the handler then returns that Response itself. */
  accepted?: z.ZodType
  /** Statuses it answers with beyond those of every route. */
  errors?: number[]
  /** Needs no token. */
  open?: boolean
  /** Runs in the instance of the request's directory, unless false. */
  instance?: boolean
  /** In bytes, for one whose bodies are larger than those of others. */
  bodyLimit?: number
  /** Another type than JSON; the handler then returns the Response itself. */
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
