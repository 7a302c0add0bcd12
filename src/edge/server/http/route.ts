// A route is declared once, with the schemas of its request and response. The handler, the OpenAPI document and the client
// all use the declaration, so they cannot disagree. The HTTP server and the local transport both call the handler.
import type { z } from "zod"
import type { Role } from "#kernel/person.ts"
import type { HttpContext } from "./respond.ts"

type Any = z.ZodType
type None = z.ZodType<undefined>
type Parts<P, Q, H, B> = { params: P; query: Q; headers: H; body: B }
/** `at`: where an HTTP request arrived; undefined for a call in the same process. */
type Call<P, Q, H, B> = Parts<P, Q, H, B> & { at?: Arrival | undefined }
type Arrival = { origin: string; port: number | undefined }
export type RawCall = Partial<Parts<unknown, unknown, unknown, unknown>> & { at?: Arrival | undefined }

const isAccepted = Symbol("accepted")
/** What a handler returns if it only accepted the request: the body of a 202 response. */
export type Accepted<T = unknown> = { readonly [isAccepted]: T }

type Declaration<P extends Any, Q extends Any, H extends Any, B extends Any, R extends Any, A extends Any> = {
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
  /** The body of a 202 response. */
  accepted?: A
  /** Error statuses of this route, in addition to those that every route has. */
  errors?: number[]
  /** Who may call it; `open`: anybody, without a token. Below `/session/:id` a person also needs this role in the session. */
  role: Role | "open"
  /** Whether it is left to the owner of the session, and to admins. */
  isOwners?: boolean
  /** Who answers if several workers share a database: the one that works on the session, all of them with one list, or
   * the one that does not say "not found". Default: this one. */
  across?: "holder" | "everyone" | "anyone"
  /** False if the route does not run in the instance of the request's directory. */
  instance?: boolean
  /** In bytes, if larger bodies than usual are accepted. */
  bodyLimit?: number
  /** The content type if it is not JSON. */
  contentType?: string
  /** Whether `respond` reads the body itself. */
  ownBody?: boolean
}
type Handler<P extends Any, Q extends Any, H extends Any, B extends Any, R extends Any, A extends Any> = {
  handle(
    call: Call<z.output<P>, z.output<Q>, z.output<H>, z.output<B>>,
  ): z.input<R> | Accepted<z.input<A>> | Promise<z.input<R> | Accepted<z.input<A>>>
}
type Responder<H extends Any, B extends Any> = {
  respond(
    c: HttpContext,
    call: Call<undefined, undefined, z.output<H>, z.output<B>>,
  ): Response | Promise<Response>
}

/** Either `handle`, or `respond` for a route that answers with the HTTP response itself. */
export type Route = Readonly<
  Declaration<Any, Any, Any, Any, Any, Any> & {
    handle?(call: Call<unknown, unknown, unknown, unknown>): unknown
    respond?(c: HttpContext, call: Call<unknown, unknown, unknown, unknown>): Response | Promise<Response>
  }
>

export function defineRoute<
  R extends Any,
  P extends Any = None,
  Q extends Any = None,
  H extends Any = None,
  B extends Any = None,
  A extends Any = None,
>(declaration: Declaration<P, Q, H, B, R, A> & Handler<P, Q, H, B, R, A>): Route {
  return Object.freeze(declaration) as unknown as Route
}

/** A route that only exists over HTTP. */
export function defineHttpRoute<R extends Any, H extends Any = None, B extends Any = None>(
  declaration: Declaration<None, None, H, B, R, None> & Responder<H, B>,
): Route {
  return Object.freeze(declaration) as unknown as Route
}

export function accept<T>(value: T): Accepted<T> {
  return { [isAccepted]: value }
}

/** The value of an accepted request; undefined for any other result. */
export function acceptedValue(result: unknown): unknown {
  const isOne = typeof result === "object" && result !== null && isAccepted in result
  return isOne ? result[isAccepted] : undefined
}
