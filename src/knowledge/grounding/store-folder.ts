// The folder of the record store for readers, in a file of its own so that a rule about it loads nothing else.
import { join } from "node:path"
import * as Global from "#kernel/process/global.ts"

/** A project's own, or all of it. */
export function storeFolder(projectId?: string): string {
  const all = join(Global.data(), "storage")
  return projectId === undefined ? all : join(all, "session", projectId)
}
