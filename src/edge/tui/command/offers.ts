// What a prompt may begin with beside our own commands.
import type { Client } from "#client/client.ts"
import type { Choice } from "#edge/tui/editor/completion.ts"

export type Options = { client: Client; session: string | undefined; signal?: AbortSignal }

/** Command files, skills and prompts of MCP servers. None if they cannot be read: our own commands work all the same. */
export async function offers({ client, session, signal }: Options): Promise<Choice[]> {
  const found = await client
    .listCommands(session === undefined ? {} : { session }, signal ? { signal } : {})
    .catch(() => [])
  return found.map(({ name, description, hint }) => ({
    value: name,
    about: hint ? `${hint}  ${description}` : description,
  }))
}
