// The language servers of a folder for people: configured ones, those of plugins, and known ones that are installed; and
// whether each runs. Starts none.
import * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import { knownServers } from "./known-servers.ts"
import { pluginServers } from "./plugin-servers.ts"
import { stateOf } from "./pool.ts"

export type ListedServer = {
  id: string
  from: "settings" | "plugin" | "installed"
  endings: string[]
  command: string
  state: "running" | "failed" | "not started" | "turned off"
  reason?: string
}

export async function listServers(): Promise<ListedServer[]> {
  const { lsp } = await Config.get()
  if (lsp === false) return []
  const own = Object.entries(lsp?.servers ?? {})
  const replaced = new Set(own.map(([id]) => id))
  const listed = (
    id: string,
    from: ListedServer["from"],
    extensions: object,
    command: readonly string[],
  ) => ({
    ...{ id, from, endings: Object.keys(extensions), command: command.join(" ") },
    ...stateOf(id),
  })
  return [
    ...own.map(([id, server]) =>
      server
        ? listed(id, "settings", server.extensions, server.command)
        : { id, from: "settings" as const, endings: [], command: "", state: "turned off" as const },
    ),
    ...pluginServers()
      .filter(([id]) => !replaced.has(id))
      .map(([id, { extensions, command }]) => listed(id, "plugin", extensions, command)),
    ...knownServers
      .filter(({ id }) => !replaced.has(id))
      .flatMap(({ id, extensions, find }) => {
        const command = find([Instance.worktree])
        return command ? [listed(id, "installed", extensions, command)] : []
      }),
  ]
}
