// Gets a prompt of a configured server with a person's arguments. The person named it, so no rule is asked; but its
// folder must be trusted.

import type { MCPPrompt, MCPPromptContent } from "#ability/mcp/server/types.ts"
import { NamedError } from "#util/error.ts"
import { nearest } from "#util/nearest.ts"
import { plainText } from "#util/plain-text.ts"
import { completeArgument } from "./complete-argument.ts"
import * as Mcp from "./mcp.ts"

type Wish = {
  server: string
  name: string
  args: Record<string, string>
  /** If given, the server must be visible to this session. */
  line?: Mcp.Line
  /** The arguments that the person typed. */
  typed: string
}

const maxNamed = 20
const maxSuggested = 8

export class PromptNotFound extends NamedError {
  constructor({ server, name }: Wish, prompts: MCPPrompt[]) {
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
  constructor({ server, name, typed }: Wish, reason: string, known: NonNullable<MCPPrompt["arguments"]>) {
    const usage = known.map((one) => (one.required ? `${one.name}=…` : `[${one.name}=…]`))
    super(
      "MCP.InvalidArguments",
      `Prompt "${server}/${name}" ${reason}. Use it as: ${plainText([typed, ...usage].join(" "), 500)}`,
      { server, name },
    )
  }
}

export async function getPrompt(wish: Wish): Promise<MCPPromptContent> {
  const server = await Mcp.get(wish.server, wish.line)
  const inManifest = () => server.manifest()?.prompts.find(({ name }) => name === wish.name)
  let prompt = inManifest()
  if (!prompt) {
    // The prompt may be newer than the manifest.
    await server.connect()
    prompt = inManifest()
  }
  if (!prompt) throw new PromptNotFound(wish, server.manifest()?.prompts ?? [])
  await checkArguments(wish, prompt.arguments ?? [])
  return server.use({}, (client) => client.getPrompt(wish.name, wish.args))
}

async function checkArguments(wish: Wish, known: NonNullable<MCPPrompt["arguments"]>): Promise<void> {
  const names = known.map(({ name }) => name)
  const foreign = Object.keys(wish.args).find((key) => !names.includes(key))
  const near = foreign === undefined ? undefined : nearest(foreign, names)
  if (foreign !== undefined)
    throw new InvalidArguments(
      wish,
      `takes no argument "${foreign}"${near ? ` (did you mean "${near}"?)` : ""}`,
      known,
    )
  const missing = known.filter(({ name, required }) => required && !Object.hasOwn(wish.args, name))
  const described = await Promise.all(
    missing.map(async ({ name, description }) => {
      const values = await suggestions(wish, name)
      const about = [
        ...(description ? [plainText(description, 200)] : []),
        ...(values.length ? [`such as ${values.join(", ")}`] : []),
      ]
      return about.length ? `"${name}" (${about.join("; ")})` : `"${name}"`
    }),
  )
  if (missing.length) throw new InvalidArguments(wish, `needs ${described.join(" and ")}`, known)
}

/** Suggestions of the server. Optional: the error is complete without them. */
async function suggestions({ server, name, args, line }: Wish, argument: string): Promise<string[]> {
  try {
    const { values } = await completeArgument(
      server,
      { prompt: name, argument, value: "", given: args },
      line,
    )
    return values.slice(0, maxSuggested)
  } catch {
    return []
  }
}
