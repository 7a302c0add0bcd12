// A route is declared once, with the schemas of what goes in and comes out. The handlers and the OpenAPI document are
// both made from the declaration, so they cannot disagree.
import type { Context } from "hono"
import type { z } from "zod"
import type { Bindings } from "./respond.ts"

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
type Call<P, Q, B> = { params: P; query: Q; body: B; c: Context<{ Bindings: Bindings }> }

type Declaration<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, R extends z.ZodType> = {
  method: Method
  /** Parameters as `:name`. */
  path: string
  summary: string
  params?: P
  query?: Q
  body?: B
  response: R
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
    call: Call<z.output<P>, z.output<Q>, z.output<B>>,
  ): Response | z.input<R> | Promise<Response | z.input<R>>
}

export type Route = Readonly<
  Omit<Declaration<z.ZodType, z.ZodType, z.ZodType, z.ZodType>, "handle"> & {
    handle(call: Call<unknown, unknown, unknown>): unknown
  }
>

export function defineRoute<
  R extends z.ZodType,
  P extends z.ZodType = z.ZodType<undefined>,
  Q extends z.ZodType = z.ZodType<undefined>,
  B extends z.ZodType = z.ZodType<undefined>,
>(declaration: Declaration<P, Q, B, R>): Route {
  return Object.freeze(declaration) as Route
}
