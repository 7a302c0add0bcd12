// What can go wrong with a database. No message has the password: an address is shown as host, port and name.
import { errorCode, errorText, NamedError } from "#util/error.ts"

/** Nobody answers, or the server refuses this user. */
export class Unreachable extends NamedError {
  constructor(shown: string, cause: unknown) {
    super("Database.Unreachable", `The database ${shown} cannot be used: ${reasonOf(cause)}`, { shown })
  }
}

/** It answers, but vitamin cannot work with it. */
export class Unusable extends NamedError {
  constructor(shown: string, reason: string) {
    super("Database.Unusable", `The database ${shown} cannot be used: ${reason}`, { shown })
  }
}

/** The connection was lost during the commit, and the database did not come back in time to tell. */
export class Uncertain extends NamedError {
  constructor(shown: string, cause?: unknown) {
    super(
      "Database.Uncertain",
      `The database ${shown} went away during a commit and cannot tell yet whether it is stored: read it again when it is back`,
      { shown },
      { cause },
    )
  }
}

export class InvalidAddress extends NamedError {
  constructor(reason: string) {
    super(
      "Database.InvalidAddress",
      `The address of the database is refused: ${reason}. It looks like postgres://USER:PASSWORD@HOST:5432/NAME`,
    )
  }
}

const lostCodes = new Set([
  ...["ECONNREFUSED", "ECONNRESET", "EPIPE", "ENOENT", "ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH"],
  ...["EAI_AGAIN", "ENOTFOUND"],
  // The server shuts down, starts, or has no connection left; it ended an idle transaction or session.
  ...["57P01", "57P03", "53300", "25P03", "57P05"],
])
const lostText =
  /^(connection terminated|client has encountered a connection error|client was closed|query read timeout|timeout expired)/i

/** Whether the connection was lost or could not be made, so that the same work may succeed on another one. */
export function isLost(error: unknown): boolean {
  const code = errorCode(error) ?? ""
  return lostCodes.has(code) || code.startsWith("08") || lostText.test((error as Error)?.message ?? "")
}

/** A server that has just been started answers soon. */
export function isStarting(error: unknown): boolean {
  return errorCode(error) === "57P03"
}

const hints: Record<string, string> = {
  "28P01": "the user or the password is wrong",
  "28000": "the server does not let this user in",
  "3D000": "there is no such database; create it first",
  "42501": "this user may not do that there; make the user the owner of the database",
  "25006": "it is read-only; name the primary server, or turn default_transaction_read_only off",
  "53100": "its disk is full; make room there, and it goes on",
  "53300": "it has no connection left; raise max_connections (a server of vitamin needs twelve)",
  "55P03": "another server has been changing it for too long; try again",
  "57P03": "it is starting or shutting down; try again",
  ECONNREFUSED: "nobody answers there (ECONNREFUSED); start it, or correct the address",
  ENOENT: "its socket is not there (ENOENT); start it, or correct the address",
  ENOTFOUND: "the name of its host is not known (ENOTFOUND); correct the address",
}
const silent = "it does not answer; start it, or look at the network in between"

export function reasonOf(error: unknown): string {
  const text = errorText(error)
  return (
    hints[errorCode(error) ?? ""] ?? (/^(timeout expired|query read timeout)/i.test(text) ? silent : text)
  )
}
