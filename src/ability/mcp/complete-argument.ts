// Asks a server for completions of an argument of one of its prompts or resource templates.

import { NamedError } from "#util/error.ts"
import { plainText } from "#util/plain-text.ts"
import * as Mcp from "./mcp.ts"

type Request = {
  prompt?: string | undefined
  resourceTemplate?: string | undefined
  argument: string
  value: string
  given?: Record<string, string> | undefined
}

const maxValues = 100
const maxValue = 500
/** In milliseconds. It is short, because somebody is typing. */
const timeout = 5_000

export async function completeArgument(
  serverId: string,
  { prompt, resourceTemplate, argument: name, value, given }: Request,
  ancestry?: Mcp.Ancestry,
): Promise<{ values: string[] }> {
  if ((prompt === undefined) === (resourceTemplate === undefined))
    throw new NamedError("MCP.InvalidCompletion", "Name a prompt or a resource template, and not both.")
  const server = await Mcp.get(serverId, ancestry)
  const of = prompt === undefined ? { resourceTemplate: resourceTemplate! } : { prompt }
  const signal = AbortSignal.timeout(timeout)
  const values = await server.use({ signal }, (client) =>
    client.complete({ of, argument: { name, value }, ...(given ? { given } : {}) }, { signal }),
  )
  return { values: values.slice(0, maxValues).map((one) => plainText(one, maxValue)) }
}
