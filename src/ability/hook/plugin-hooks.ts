// The hooks of installed plugins.
import { installed, type Plugin, readJson } from "#kernel/plugin/plugins.ts"
import { errorText } from "#util/error.ts"
import type { HookSource } from "./hook-file.ts"

export function pluginHooks(): { sources: HookSource[]; problems: string[] } {
  const sources: HookSource[] = []
  const problems: string[] = []
  for (const plugin of installed())
    for (const part of plugin.parts.hooks)
      try {
        sources.push(sourceOf(plugin, part))
      } catch (error) {
        problems.push(`hooks of the plugin ${plugin.name} are not used: ${errorText(error)}`)
      }
  return { sources, problems }
}

/** The events may also be at the top of the file. */
function sourceOf(plugin: Plugin, part: string): HookSource {
  const { file, value } = readJson(plugin, part)
  const { hooks = value } = value as { hooks?: unknown }
  const bytes = Buffer.from(JSON.stringify({ hooks }))
  return { path: file, bytes, pluginRoot: plugin.root, isProjects: false }
}
