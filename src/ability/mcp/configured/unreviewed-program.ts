// Finds a project file that an MCP server's command would run and that nobody reviewed, files that it imports included. The
// program itself reads these files later, so the check runs when servers are listed and again right before each start.
import { relative } from "node:path"
import type { MCPServerConfig } from "#ability/mcp/server/types.ts"
import { maxProgram } from "#kernel/reviewed/places.ts"
import { namedByCommand, withImports } from "#kernel/reviewed/project-code.ts"
import * as Reviewed from "#kernel/reviewed/reviewed.ts"
import { readSmallFile } from "#kernel/schema/read-file.ts"
import { ownCommand } from "#util/own-command.ts"
import type { Found } from "./load-servers.ts"
import { Unusable } from "./unknown-server.ts"

/** Why it must not start; undefined if it may. */
export async function unreviewedProgram(
  server: MCPServerConfig,
  reviewed: Reviewed.Reviewed,
): Promise<string | undefined> {
  const { root } = reviewed
  const programs = namedByCommand(server, server.cwd ?? root, root)
  for (const file of new Set(programs.flatMap((program) => withImports(program, root)))) {
    const bytes = await readSmallFile(file, undefined, maxProgram)
    const reason = bytes && reviewed.refusal(file, bytes)
    const name = relative(root, file)
    if (reason) return `it runs ${name}: ${reason} (${ownCommand} trust --file ${name})`
  }
  return undefined
}

/** Throws if a server must not start now: a file that its command names may have changed since the list was made.
 * Servers of a client, or of the person's own skills, need no review. */
export async function mayStart(found: Found, worktree: string): Promise<void> {
  const reviewed = await Reviewed.of(worktree)
  if (found.brought || found.isOwn || !found.server || !reviewed.isTrusted) return
  const problem = await unreviewedProgram(found.server, reviewed)
  if (problem) throw new Unusable({ ...found, problem, isUntrusted: true })
}
