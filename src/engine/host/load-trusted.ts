// Loads the trusted files of a folder once, after a person has reviewed them: that records their deny and ask rules, and
// finds their errors.
import { join } from "node:path"
import { FolderNotFound, scanAgents } from "#ability/agent/scan-agents.ts"
import * as Config from "#kernel/config/config.ts"
import { agentFolders, guardFolder } from "#kernel/reviewed/places.ts"
import { errorText } from "#util/error.ts"
import { isAbsent } from "#util/file/path-info.ts"

/** Returns the problems, one line each. */
export async function loadTrusted(root: string): Promise<string[]> {
  const found: string[] = []
  await Config.inspect({ directory: root }).catch((error) => {
    if (!(error instanceof Config.Invalid)) throw error
    // The next command reports this error. Agents are loaded anyway: their deny and ask rules must be recorded.
    found.push(errorText(error))
  })
  for (const folder of agentFolders)
    try {
      const { problems } = await scanAgents(join(root, folder), root)
      found.push(...problems.map(({ file, message }) => `${file}: ${message}`))
    } catch (error) {
      if (!(error instanceof FolderNotFound)) throw error
    }
  found.push(...(await guardProblems(root)))
  return found
}

async function guardProblems(root: string): Promise<string[]> {
  if (isAbsent(join(root, guardFolder))) return []
  const { readGuardFiles } = await import("#engine/symbolic/guard-file.ts")
  return (await readGuardFiles(root)).problems
}
