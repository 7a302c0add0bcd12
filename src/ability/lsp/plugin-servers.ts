// The language servers of installed plugins, in the form of Claude Code (`.lsp.json`, `lspServers`).
import { readFileSync } from "node:fs"
import { relative } from "node:path"
import { z } from "zod"
import { installed, type Plugin, readJson } from "#kernel/plugin/plugins.ts"
import * as Log from "#kernel/process/log.ts"
import { namedByCommand } from "#kernel/reviewed/project-code.ts"
import type { LanguageServer } from "#kernel/schema/schema.ts"
import { errorText } from "#util/error.ts"

const Entry = z.object({
  command: z.string().min(1),
  args: z.array(z.string()).default([]),
  extensionToLanguage: z.record(z.string(), z.string()),
  env: z.record(z.string(), z.string()).optional(),
  initializationOptions: z.record(z.string(), z.unknown()).optional(),
  settings: z.record(z.string(), z.unknown()).optional(),
})

/** By id, `plugin:name`. One whose program is not as it was installed is left out. */
export function pluginServers(): [id: string, server: LanguageServer][] {
  return installed().flatMap((plugin) =>
    plugin.parts.lsp.flatMap((part) => {
      try {
        const table = (readJson(plugin, part).value ?? {}) as Record<string, unknown>
        const entries = Object.entries((table.lspServers ?? table) as Record<string, unknown>)
        return entries.map(([name, entry]): [string, LanguageServer] => [
          `${plugin.name}:${name}`,
          serverOf(plugin, entry),
        ])
      } catch (error) {
        Log.warn(`language servers of the plugin ${plugin.name} are not used: ${errorText(error)}`)
        return []
      }
    }),
  )
}

function serverOf({ root, reviewed }: Plugin, value: unknown): LanguageServer {
  const entry = Entry.parse(value)
  const { env, initializationOptions: initialization, settings } = entry
  const command: [string, ...string[]] = [entry.command, ...entry.args]
  for (const file of namedByCommand({ command, env: env ?? {} }, root, root)) {
    const refusal = reviewed.refusal(file, readFileSync(file))
    if (refusal) throw new Error(`${relative(root, file)}: ${refusal}`)
  }
  return {
    command,
    extensions: entry.extensionToLanguage,
    ...(env ? { env } : {}),
    ...(initialization ? { initialization } : {}),
    ...(settings ? { settings } : {}),
  }
}
