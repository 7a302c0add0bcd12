// Why a server that somebody names is not to be had.
import { NamedError } from "#util/error.ts"
import { nearest } from "#util/nearest.ts"
import type { Found } from "./load-servers.ts"

export class NotFound extends NamedError {
  constructor(id: string, known: string[]) {
    const near = nearest(id, known)
    super(
      "MCP.NotFound",
      `MCP server ${JSON.stringify(id)} does not exist. Configured: ${known.join(", ") || "none"}${near ? `. Did you mean "${near}"?` : ""}`,
      { id },
    )
  }
}

/** It is configured and cannot be used: by what it says, or because it is not trusted. */
export class Unusable extends NamedError {
  constructor({ id, source, problem, isUntrusted }: Found) {
    const name = isUntrusted ? "MCP.Untrusted" : "MCP.InvalidServer"
    super(name, `MCP server "${id}" (${source}) is not used: ${problem}`, { id })
  }
}
