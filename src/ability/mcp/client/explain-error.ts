// Converts errors of the SDK into ours. If a server requires more OAuth scopes, they are stored for the next login.

import { noteStepUp } from "#ability/mcp/login/login-tokens.ts"
import { BadAnswer, Refused, Unavailable, VisitNeeded } from "#ability/mcp/server/errors.ts"
import type { SDK } from "#ability/mcp/server/sdk.ts"
import type { MCPClientConfig, MCPServerConfig } from "#ability/mcp/server/types.ts"
import { safeLine, wrongAnswer } from "#ability/mcp/transport/stdio-transport.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { errorText, NamedError } from "#util/error.ts"
import { plainText } from "#util/plain-text.ts"
import { RedirectRefused } from "#util/redirect.ts"

/** How many pages a person is asked to visit for one call. */
const mostVisits = 3
const maxUrl = 1_000

export async function explainError(given: {
  sdk: SDK
  config: MCPClientConfig
  method: string
  error: unknown
}): Promise<Error> {
  const { sdk, config, error } = given
  if (sdk.InsufficientScopeError.isInstance(error)) {
    const { requiredScope, resourceMetadataUrl } = error
    return await noteStepUp(config.server, {
      ...(requiredScope ? { scope: requiredScope } : {}),
      ...(resourceMetadataUrl ? { resourceMetadataUrl: resourceMetadataUrl.href } : {}),
    })
  }
  if (sdk.UrlElicitationRequiredError.isInstance(error)) {
    const visits = error.elicitations.filter(({ url }) => /^https?:/i.test(url)).slice(0, mostVisits)
    for (const { message, url } of visits) await config.onElicit?.({ mode: "url", message, url })
    const urls = visits.map(({ url }) => plainText(url, maxUrl))
    return new VisitNeeded(config.server, urls)
  }
  return translateError({ ...given, server: config.server })
}

function translateError(given: { sdk: SDK; server: MCPServerConfig; method: string; error: unknown }): Error {
  const { sdk, server, method, error } = given
  if (error instanceof NamedError) return error
  // The SDK wraps the error in a less specific one.
  const redirect = chainOf(error).find((one) => one instanceof RedirectRefused)
  if (redirect) return new Unavailable(server, errorText(redirect), { cause: error })
  // Redacts before white space is normalised: a secret may contain some.
  const message = safeLine(Secret.redact(rootText(error)).replaceAll(/\s+/g, " "))
  if (sdk.ProtocolError.isInstance(error))
    return error.code === wrongAnswer
      ? new BadAnswer(server, method, message)
      : new Refused(server, method, { code: error.code, message })
  const status = httpStatus(error)
  if (status !== undefined) return new Unavailable(server, `HTTP ${status}: ${message}`, { cause: error })
  if (sdk.SdkError.isInstance(error) && isAnswerCode(error.code))
    return new BadAnswer(server, method, message)
  return new Unavailable(server, message, { cause: error })
}

export function httpStatus(error: unknown): number | undefined {
  const status = (error as { data?: { status?: unknown } } | undefined)?.data?.status
  return typeof status === "number" ? status : undefined
}

function isAnswerCode(code: string): boolean {
  return /INVALID|UNEXPECTED|SCHEMA|RESULT/.test(code)
}

/** The messages of the error and its causes: "fetch failed" alone does not say why. */
function rootText(error: unknown): string {
  return [...new Set(chainOf(error).map(errorText))].filter(Boolean).join(": ")
}

/** The error and what caused it. */
function chainOf(error: unknown): unknown[] {
  const chain: unknown[] = []
  for (let at = error; at !== undefined && chain.length < 4; at = (at as { cause?: unknown }).cause)
    chain.push(at)
  return chain
}
