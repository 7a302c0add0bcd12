// Converts errors into JSON-RPC errors: a code, a message of one line, and the error's name for programs.
import { RequestError } from "@agentclientprotocol/sdk"
import * as Secret from "#kernel/secret/secret.ts"
import { errorText, NamedError } from "#util/error.ts"

const maxId = 100

export class InvalidParams extends NamedError {
  constructor(message: string) {
    super("ACP.InvalidParams", message)
  }
}

/** The session is not open on this connection; it may exist. */
export class NotOpen extends NamedError {
  constructor(sessionId: string) {
    super(
      "ACP.NotOpen",
      `Session ${JSON.stringify(sessionId.slice(0, maxId))} is not open here. session/load or session/resume opens it, session/new creates one.`,
      { sessionId },
    )
  }
}

/** An editor that gets this code offers the login. */
const authRequired = -32000
const codes: [names: RegExp, code: number][] = [
  [/^(ACP\.NotOpen|Session\.NotFound)$/, -32002],
  [/^Provider\.MissingKey$/, authRequired],
  [/\.(Invalid|Unknown)\w*$|NotFound$/, -32602],
]
const internal = -32603
const maxText = 2_000

export function toRequestError(error: unknown): RequestError {
  if (error instanceof RequestError) return error
  const name = error instanceof Error ? error.name : "Error"
  const code = isRefusedKey(error)
    ? authRequired
    : (codes.find(([names]) => names.test(name))?.[1] ?? internal)
  const text = Secret.redact(errorText(error)).replace(/\s+/g, " ").trim().slice(0, maxText)
  const { sessionId } = (error instanceof NamedError ? error.data : {}) as { sessionId?: unknown }
  return new RequestError(code, text || name, {
    name,
    ...(typeof sessionId === "string" ? { sessionId: sessionId.slice(0, maxId) } : {}),
  })
}

/** The one place that converts errors into JSON-RPC errors. */
export async function answer<T>(fn: () => Promise<T>): Promise<T> {
  try {
    return await fn()
  } catch (error) {
    throw toRequestError(error)
  }
}

/** Whether the model's provider refused the API key. */
function isRefusedKey(error: unknown): boolean {
  return error instanceof NamedError && error.name === "Session.RequestFailed" && error.data.status === 401
}

/** The SDK reports invalid parameters as a tree of errors. Returns the first three as one line. */
export function explainTree(tree: unknown): string | undefined {
  const problems: string[] = []
  collect(tree, [], problems)
  return problems.length ? problems.slice(0, 3).join("; ") : undefined
}

function collect(tree: unknown, path: string[], problems: string[]): void {
  if (typeof tree !== "object" || tree === null || path.length > 20) return
  const { _errors: own, ...rest } = tree as { _errors?: unknown }
  if (Array.isArray(own))
    for (const text of own) problems.push([path.join("."), String(text)].filter(Boolean).join(": "))
  for (const [key, value] of Object.entries(rest)) collect(value, [...path, key], problems)
}
