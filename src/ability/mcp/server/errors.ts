// The errors of calls to an MCP server. The text names the server and, for a program, its last stderr lines.
import { NamedError } from "#util/error.ts"
import { ownCommand } from "#util/own-command.ts"
import type { MCPToolResult } from "./types.ts"

type Of = { id: string }

const noMethod = -32_601
/** Servers also use this code for wrong arguments, so the message decides. */
const invalidParams = -32_602
const unknownTool = /\b(unknown tool|no such tool|tool\b.{0,200}\b(not found|does not exist))/is
const maxRead = 500

/** The server could not be started or reached. */
export class Unavailable extends NamedError {
  constructor({ id }: Of, reason: string, options?: ErrorOptions) {
    super("MCP.Unavailable", `MCP server "${id}" is not available: ${reason}`, { server: id }, options)
  }
}

/** The server ended while it was needed. */
export class Crashed extends NamedError {
  constructor({ id }: Of, how: string, said: string) {
    const last = said
      ? ` Its stderr ends with:\
${said}`
      : " It wrote nothing to stderr."
    super("MCP.Crashed", `MCP server "${id}" ${how}.${last}`, { server: id, stderr: said })
  }
}

export class TimedOut extends NamedError {
  constructor({ id }: Of, method: string, ms: number) {
    super("MCP.TimedOut", `MCP server "${id}" did not answer ${method} within ${ms / 1000} s.`, {
      server: id,
      method,
      timeout: ms,
    })
  }
}

/** The server returned a protocol error, with its code. */
export class Refused extends NamedError {
  constructor({ id }: Of, method: string, error: { code: number; message: string; data?: unknown }) {
    super("MCP.Refused", `MCP server "${id}" refused ${method}: ${error.message} (${error.code})`, {
      server: id,
      method,
      code: error.code,
    })
  }
}

/** The answer violates the protocol. */
export class BadAnswer extends NamedError {
  constructor({ id }: Of, method: string, reason: string) {
    super("MCP.BadAnswer", `MCP server "${id}" answered ${method} wrongly: ${reason}`, { server: id, method })
  }
}

export class LoginNeeded extends NamedError {
  constructor({ id }: Of, scope?: string) {
    const wanted = scope ? ` with more rights (${scope})` : ""
    super(
      "MCP.LoginNeeded",
      `MCP server "${id}" asks for a login${wanted}. Run: ${ownCommand} mcp login ${id}`,
      {
        server: id,
        ...(scope ? { scope } : {}),
      },
    )
  }
}

/** The login failed, or did not help. */
export class LoginFailed extends NamedError {
  constructor({ id }: Of, reason: string, options?: ErrorOptions) {
    super("MCP.LoginFailed", `The login to MCP server "${id}" failed: ${reason}`, { server: id }, options)
  }
}

export class Closed extends NamedError {
  constructor({ id }: Of) {
    super("MCP.Closed", `The client of MCP server "${id}" was closed.`, { server: id })
  }
}

export class InvalidServer extends NamedError {
  constructor({ id }: Of, reason: string) {
    super("MCP.InvalidServer", `MCP server "${id}" cannot be used: ${reason}.`, { server: id })
  }
}

/** A page has to be visited before the call can work. */
export class VisitNeeded extends NamedError {
  constructor({ id }: Of, urls: string[]) {
    super(
      "MCP.VisitNeeded",
      `MCP server "${id}" asks to visit ${urls.join(", ")} first, then to try again.`,
      {
        server: id,
        urls,
      },
    )
  }
}

/** Whether an answer to a tool call, a result or a thrown error, says that the server has no such tool. The protocol has an
 * error code for it; many servers return a result with words instead. */
export function meansUnknownTool(answer: unknown): boolean {
  if (answer instanceof Refused) {
    const { code } = answer.data
    return code === noMethod || (code === invalidParams && unknownTool.test(answer.message.slice(0, maxRead)))
  }
  const { isError, content: [first] = [] } = (answer ?? {}) as Partial<MCPToolResult>
  return isError === true && first?.type === "text" && unknownTool.test(first.text.slice(0, maxRead))
}
