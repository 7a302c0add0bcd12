// The status of a server for people and clients.
import type { Status } from "./changed.ts"
import type { ConfiguredServer } from "./configured-server.ts"
import type { Found } from "./load-servers.ts"

/** `one` is undefined if the server cannot be used; `problems` are those of its tools. */
export function statusOf(found: Found, one?: ConfiguredServer, problems: readonly string[] = []): Status {
  const { id, source, server } = found
  const manifest = one?.manifest()
  const error = found.problem ?? one?.error()
  const { info } = manifest ?? {}
  return {
    id,
    name: server?.name ?? id,
    source,
    ...(server ? { transport: server.transport } : {}),
    state: one?.state() ?? "unusable",
    ...(error === undefined ? {} : { error }),
    ...(info ? { protocol: info.protocol, version: `${info.name} ${info.version}` } : {}),
    tools: manifest?.tools.length ?? 0,
    resources: manifest?.resources.length ?? 0,
    prompts: manifest?.prompts.length ?? 0,
    problems: [...(manifest?.problems ?? []), ...problems],
  }
}
