// The files of a project that name MCP servers. Checking whether they exist is the only cost of a start without
// servers.
import { join } from "node:path"
import { serverFiles } from "#kernel/reviewed/places.ts"
import { statOf } from "#util/file/path-info.ts"

/** Changes whenever one of the files does; empty if there is none. */
export function stampOf(worktree: string): string {
  return serverFiles
    .flatMap((name) => {
      const stat = statOf(join(worktree, name))
      return stat ? [`${name} ${stat.mtimeMs} ${stat.size} ${stat.ino}`] : []
    })
    .join("\n")
}
