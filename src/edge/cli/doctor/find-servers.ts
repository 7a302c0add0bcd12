// The lines of `vitamin doctor` about MCP servers: configuration and last known state. Starts no server.

import { countOf } from "#edge/cli/terminal/count-of.ts"
import * as Config from "#kernel/config/config.ts"
import * as Reviewed from "#kernel/reviewed/reviewed.ts"
import { ownCommand } from "#util/own-command.ts"
import type { Finding } from "./doctor.ts"

const about = "MCP servers"

export async function findServers(directory: string): Promise<Finding[]> {
  const { loadServers } = await import("#ability/mcp/load-servers.ts")
  const Manifest = await import("#ability/mcp/manifest.ts")
  const configured = await Config.inspect({ directory }).then(
    ({ config }) => config.mcp?.servers ?? [],
    () => [],
  )
  const loaded = await loadServers({ reviewed: await Reviewed.of(directory), configured })
  const findings = loaded.servers.map(({ id, source, server, problem }): Finding => {
    if (!server) return { state: "note", about, text: `${id} (${source}) is not used: ${problem}` }
    const manifest = Manifest.read(server)
    const todo = `${ownCommand} mcp test ${id}`
    if (!manifest) return { state: "note", about, text: `${id} was never tried`, todo }
    if (manifest.error !== undefined)
      return { state: "note", about, text: `${id} did not start: ${manifest.error}`, todo }
    return { state: "ok", about, text: `${id}, ${countOf(manifest.tools.length, "tool")}` }
  })
  const problems = loaded.problems.map((text): Finding => ({ state: "note", about, text }))
  if (!findings.length && !problems.length) return [{ state: "ok", about, text: "none configured" }]
  return [...findings, ...problems]
}
