// The folder of the record store, for tools that search it. A file of its own, so that its path can be used without
// loading the store.
import { join } from "node:path"
import * as Global from "#kernel/process/global.ts"

/** The folder of a project's sessions, or of all records. */
export function storeFolder(projectId?: string): string {
  const all = join(Global.data(), "storage")
  return projectId === undefined ? all : join(all, "session", projectId)
}
