// `vitamin tool …`: what a model can be given to work with, those of MCP servers as they are known.
import { ifConfigured } from "#ability/mcp/if-configured.ts"
import * as ToolRegistry from "#ability/tool/tool-registry.ts"
import * as Log from "#kernel/log.ts"
import { type FolderOptions, inInstance } from "./in-instance.ts"

type Options = FolderOptions & { format: "text" | "json" }

export async function listTools(options: Options): Promise<void> {
  await inInstance(options, async () => {
    await (await ifConfigured())?.list()
    if (options.format === "json") return print(JSON.stringify(ToolRegistry.toModelTools(), null, 2))
    for (const { id, category, description } of ToolRegistry.list())
      print(lineOf({ id, note: category, description }))
  })
}

export async function searchTools(options: Options & { query: string[] }): Promise<void> {
  await inInstance(options, async () => {
    const { createMCPRegistry } = await import("#ability/mcp/create-registry.ts")
    const registry = createMCPRegistry()
    try {
      const Mcp = await ifConfigured()
      for (const one of (await Mcp?.usable()) ?? [])
        for (const tool of one.manifest()?.tools ?? []) await registry.tools.register(tool, one.server.id)
      const matches = await registry.tools.search(options.query.join(" "))
      if (options.format === "json") return print(JSON.stringify(matches, null, 2))
      if (!matches.length) return print("No tool fits these words.")
      for (const { tool, serverId } of matches)
        print(lineOf({ id: tool.name, note: serverId, description: tool.description ?? "" }))
    } finally {
      await registry.close()
    }
  })
}

function lineOf({ id, note, description }: { id: string; note: string; description: string }): string {
  return Log.escapeControls(`${id.padEnd(12)} ${note.padEnd(10)} ${description.split("\n", 1)[0]}`)
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
