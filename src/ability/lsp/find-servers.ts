// Which language servers a file has: configured ones, those of plugins, and known ones that the project or PATH has. Each
// works in the nearest folder with one of its marker files.
import { existsSync } from "node:fs"
import { join } from "node:path"
import type { Definition } from "#ability/lsp/server/create-server.ts"
import * as ProjectTools from "#ability/shell/project-tools.ts"
import * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import type { LanguageServer } from "#kernel/schema/schema.ts"
import { endingOf, type Known, knownServers } from "./known-servers.ts"
import { pluginServers } from "./plugin-servers.ts"

export type Candidate = {
  id: string
  root: string
  /** Undefined if the program is not installed. Looked up only when the server starts. */
  define(): Definition | undefined
}

export async function findServers(path: string): Promise<Candidate[]> {
  const { lsp } = await Config.get()
  if (lsp === false) return []
  const own = Object.entries(lsp?.servers ?? {})
  const named = own.flatMap(([id, server]) => (server ? candidateOf(asKnown(id, server), path) : []))
  const replaced = new Set(own.map(([id]) => id))
  // A configured server for this ending takes the place of the known one.
  if (named.length) return named
  const ofPlugins = pluginServers().flatMap(([id, server]) =>
    replaced.has(id) ? [] : candidateOf(asKnown(id, server), path),
  )
  if (ofPlugins.length) return ofPlugins
  return knownServers.filter(({ id }) => !replaced.has(id)).flatMap((known) => candidateOf(known, path))
}

export async function waitTime(): Promise<number> {
  const { lsp } = await Config.get()
  return lsp ? (lsp.wait ?? 1_500) : 1_500
}

function asKnown(id: string, server: LanguageServer): Known & Pick<LanguageServer, "env"> {
  const { command, extensions, env, root = [], initialization, settings } = server
  return {
    ...{ id, extensions, markers: root, needsMarker: false, initialization },
    ...(env ? { env } : {}),
    find: () => command,
    settings: () => settings,
  }
}

function candidateOf(known: Known & Pick<LanguageServer, "env">, path: string): Candidate[] {
  const { id, extensions, markers, needsMarker, env = {} } = known
  if (!Object.hasOwn(extensions, endingOf(path))) return []
  const folders = ProjectTools.foldersAbove(path)
  const marked = folders.findIndex((folder) => markers.some((name) => existsSync(join(folder, name))))
  if (marked < 0 && needsMarker) return []
  const root = folders[marked] ?? Instance.worktree
  const languageOf = (file: string) => extensions[endingOf(file)] ?? "plaintext"
  const define = (): Definition | undefined => {
    const command = known.find(marked < 0 ? [root] : folders.slice(marked))
    const [initialization, settings] = [known.initialization, known.settings?.(root)]
    return command && { id, command, env, root, languageOf, initialization, settings }
  }
  return [{ id, root, define }]
}
