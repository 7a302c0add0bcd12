// The MCP servers of installed plugins. Their ids are those of Claude Code, `plugin_NAME_SERVER`, so that rules and tools of
// a plugin that name them fit.
import { installed, readJson } from "#kernel/plugin/plugins.ts"
import * as Log from "#kernel/process/log.ts"
import { errorText } from "#util/error.ts"
import type { Added } from "./load-servers.ts"
import { idOf } from "./server-ids.ts"

export function pluginServers(): Added[] {
  return installed().flatMap((plugin) =>
    plugin.parts.mcp.flatMap((part) => {
      try {
        const { value } = readJson(plugin, part)
        const table = (value ?? {}) as Record<string, unknown>
        const entries = Object.entries((table.mcpServers ?? table) as Record<string, unknown>)
        return entries.map(([name, entry]) => ({
          id: idOf(`plugin_${plugin.name}_${name}`),
          entry,
          source: `the plugin ${plugin.name}`,
          folder: plugin.root,
          isOwn: true,
          reviewed: plugin.reviewed,
        }))
      } catch (error) {
        Log.warn(`the MCP servers of the plugin ${plugin.name} are not used: ${errorText(error)}`)
        return []
      }
    }),
  )
}
