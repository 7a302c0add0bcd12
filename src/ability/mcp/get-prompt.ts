// Gets a prompt of an MCP server with a person's arguments. The person named the prompt, so no rule applies.

import type { MCPPrompt, MCPPromptContent } from "#ability/mcp/server/types.ts"
import { NamedError } from "#util/error.ts"
import { nearest } from "#util/nearest.ts"
import { plainText } from "#util/plain-text.ts"
import { completeArgument } from "./complete-argument.ts"
import * as Mcp from "./mcp.ts"

type Request = {
  server: string
  name: string
  args: Record<string, string>
  /** If given, the server must be visible to this session. */
  ancestry?: Mcp.Ancestry
  /** The arguments that the person typed. */
  typed: string
}

const maxNamed = 20
const maxSuggested = 8

export class PromptNotFound extends NamedError {
  constructor({ server, name }: Request, prompts: MCPPrompt[]) {
    const known = prompts.map((prompt) => plainText(prompt.name, 100))
    const near = nearest(name, known)
    const more = known.length > maxNamed ? ", …" : ""
    super(
      "MCP.PromptNotFound",
      `MCP server "${server}" has no prompt ${JSON.stringify(name)}. It has: ${known.slice(0, maxNamed).join(", ") || "none"}${more}${near ? `. Did you mean "${near}"?` : ""}`,
      { server, name },
    )
  }
}

export class InvalidArguments extends NamedError {
  constructor({ server, name, typed }: Request, reason: string, known: NonNullable<MCPPrompt["arguments"]>) {
    const usage = known.map((one) => (one.required ? `${one.name}=…` : `[${one.name}=…]`))
    super(
      "MCP.InvalidArguments",
      `Prompt "${server}/${name}" ${reason}. Use it as: ${plainText([typed, ...usage].join(" "), 500)}`,
      { server, name },
    )
  }
}

export async function getPrompt(request: Request): Promise<MCPPromptContent> {
  const server = await Mcp.get(request.server, request.ancestry)
  const inManifest = () => server.manifest()?.prompts.find(({ name }) => name === request.name)
  let prompt = inManifest()
  if (!prompt) {
    // The prompt may be newer than the manifest.
    await server.connect()
    prompt = inManifest()
  }
  if (!prompt) throw new PromptNotFound(request, server.manifest()?.prompts ?? [])
  await checkArguments(request, prompt.arguments ?? [])
  return server.use({}, (client) => client.getPrompt(request.name, request.args))
}

async function checkArguments(request: Request, known: NonNullable<MCPPrompt["arguments"]>): Promise<void> {
  const names = known.map(({ name }) => name)
  const foreign = Object.keys(request.args).find((key) => !names.includes(key))
  const near = foreign === undefined ? undefined : nearest(foreign, names)
  if (foreign !== undefined)
    throw new InvalidArguments(
      request,
      `takes no argument "${foreign}"${near ? ` (did you mean "${near}"?)` : ""}`,
      known,
    )
  const missing = known.filter(({ name, required }) => required && !Object.hasOwn(request.args, name))
  const described = await Promise.all(
    missing.map(async ({ name, description }) => {
      const values = await suggestions(request, name)
      const about = [
        ...(description ? [plainText(description, 200)] : []),
        ...(values.length ? [`such as ${values.join(", ")}`] : []),
      ]
      return about.length ? `"${name}" (${about.join("; ")})` : `"${name}"`
    }),
  )
  if (missing.length) throw new InvalidArguments(request, `needs ${described.join(" and ")}`, known)
}

/** Suggestions of the server. Optional: the error is complete without them. */
async function suggestions({ server, name, args, ancestry }: Request, argument: string): Promise<string[]> {
  try {
    const { values } = await completeArgument(
      server,
      { prompt: name, argument, value: "", given: args },
      ancestry,
    )
    return values.slice(0, maxSuggested)
  } catch {
    return []
  }
}
