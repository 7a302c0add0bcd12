// `--prompt SERVER/NAME key=value …`: uses a prompt of an MCP server.
import { getPrompt, InvalidArguments, PromptNotFound } from "#ability/mcp/get-prompt.ts"
import * as Mcp from "#ability/mcp/mcp.ts"
import { UsageError } from "#edge/cli/process/exit.ts"
import { partsOfPrompt } from "#engine/attach/expand-command.ts"
import type * as Session from "#engine/session/session.ts"

const argument = /^([\w.-]+)=(.*)$/s

/** The parts of the prompt, and the words that are not arguments. */
export async function readPrompt(
  name: string,
  words: string[],
): Promise<{ parts: Session.PromptPart[]; message: string }> {
  const pairs = words.flatMap((word) => (argument.test(word) ? [argument.exec(word)!.slice(1, 3)] : []))
  const args = Object.fromEntries(pairs) as Record<string, string>
  const message = words
    .filter((word) => !argument.test(word))
    .join(" ")
    .trim()
  try {
    const { messages } = await getPrompt({ ...(await splitName(name)), args, typed: `--prompt ${name}` })
    return { parts: partsOfPrompt(messages), message }
  } catch (error) {
    const isUsage = [PromptNotFound, InvalidArguments, Mcp.NotFound].some((kind) => error instanceof kind)
    throw isUsage ? new UsageError((error as Error).message) : error
  }
}

/** Splits after the longest server name that the text begins with, because names may contain slashes. */
async function splitName(text: string): Promise<{ server: string; name: string }> {
  const ids = (await Mcp.list()).map(({ id }) => id).filter((id) => text.startsWith(`${id}/`))
  const server = ids.sort((a, b) => b.length - a.length)[0] ?? text.split("/", 1)[0]!
  const name = text.slice(server.length + 1)
  if (!server || !name) throw new UsageError("--prompt needs SERVER/NAME, such as --prompt files/review")
  return { server, name }
}
