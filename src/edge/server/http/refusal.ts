// The errors with which the server refuses a request, each with its HTTP status.
import { NamedError } from "#util/error.ts"

export class Refusal extends NamedError {
  readonly status: number
  readonly headers: Record<string, string>

  constructor(options: {
    status: number
    name: string
    message: string
    data?: Record<string, unknown>
    headers?: Record<string, string>
  }) {
    super(`Server.${options.name}`, options.message, options.data)
    this.status = options.status
    this.headers = options.headers ?? {}
  }
}

export function foreignHost(): Refusal {
  const message = "This server does not answer under that Host name. Use the URL that it printed at start."
  return new Refusal({ status: 421, name: "ForeignHost", message })
}

export function foreignOrigin(): Refusal {
  const message = "Requests from other web sites are refused."
  return new Refusal({ status: 403, name: "ForeignOrigin", message })
}

export function unauthorized(): Refusal {
  const message =
    "A valid token is needed: Authorization: Bearer TOKEN, or the cookie vitamin_token. A personal token may have expired, or was revoked."
  return new Refusal({
    status: 401,
    name: "Unauthorized",
    message,
    headers: { "www-authenticate": "Bearer" },
  })
}

export function forbidden(needed: string, role: string): Refusal {
  const message = `This needs the role ${needed}; the role of this token is ${role}.`
  return new Refusal({ status: 403, name: "Forbidden", message, data: { needed, role } })
}

export function unknownPath(path: string): Refusal {
  const message = `The path ${JSON.stringify(path)} does not exist. GET /openapi.json lists all paths.`
  return new Refusal({ status: 404, name: "NotFound", message })
}

export function methodNotAllowed(method: string, allow: string[]): Refusal {
  const message = `${method} is not allowed here. Allowed: ${allow.join(", ")}`
  return new Refusal({
    status: 405,
    name: "MethodNotAllowed",
    message,
    headers: { allow: allow.join(", ") },
  })
}

export function upgradeRequired(path: string): Refusal {
  const message = `${path} is a WebSocket: ask for an upgrade of the connection.`
  return new Refusal({
    status: 426,
    name: "UpgradeRequired",
    message,
    headers: { upgrade: "websocket", connection: "upgrade" },
  })
}

export function tooLarge(limit: number): Refusal {
  const message = `The body is larger than ${limit} bytes. A file or an image can be given by its path instead.`
  return new Refusal({ status: 413, name: "TooLarge", message, data: { limit } })
}

export function unmetExpectation(expected: string): Refusal {
  const message = `"Expect: ${expected}" cannot be met. Possible: 100-continue`
  return new Refusal({ status: 417, name: "UnmetExpectation", message })
}

/** `place` is the wrong part of the request: "body.parts.0.text", "header x-vitamin-directory". */
export function invalidRequest(place: string, reason: string): Refusal {
  const message = `The request is wrong at ${place}: ${reason}`
  return new Refusal({ status: 400, name: "InvalidRequest", message, data: { place } })
}
