// `vitamin tool …`: lists and searches tools, including those of MCP servers in their last known state.

import { ifConfigured } from "#ability/mcp/if-configured.ts"
import type { ToolMatch } from "#ability/mcp/load-registry.ts"
import { offerScripts } from "#ability/script/script-tool.ts"
import { loadToolGroups } from "#ability/tool/tool-groups.ts"
import * as ToolRegistry from "#ability/tool/tool-registry.ts"
import { UsageError } from "#edge/cli/process/exit.ts"
import { type FolderOptions, inInstance } from "#edge/cli/process/in-instance.ts"
import { firstParagraph } from "#edge/cli/terminal/first-paragraph.ts"
import { wrapList } from "#edge/cli/terminal/wrap-text.ts"
import * as Log from "#kernel/process/log.ts"

type Options = FolderOptions & { format: "text" | "json" }

export async function listTools(options: Options): Promise<void> {
  await inInstance(options, async () => {
    await Promise.all([loadToolGroups(), offerScripts(), (await ifConfigured())?.list()])
    if (options.format === "json") return print(JSON.stringify(ToolRegistry.toModelTools(), null, 2))
    const tools = ToolRegistry.list()
    const width = widthOf(tools.map(({ id }) => id))
    for (const { id, category, description } of tools)
      print(lineOf({ id, width, note: category, description }))
  })
}

/** Prints the names that models use, and the scores by word and by meaning, which explain the ranking. */
export async function searchTools(options: Options & { query: string[]; limit: number }): Promise<void> {
  const { query, limit } = options
  if (!Number.isInteger(limit) || limit < 1) throw new UsageError("--limit takes a number from 1 on")
  await inInstance(options, async () => {
    const { loadRegistry, placeOf } = await import("#ability/mcp/load-registry.ts")
    const registry = await loadRegistry()
    const found = await registry.tools.search(query.join(" "), { limit })
    const ids = new Map(ToolRegistry.list().map((tool) => [placeOf(tool), tool.id]))
    const matches = found.map(({ tool, serverId, ...why }) => {
      const name = ids.get(`${serverId}/${tool.name}`) ?? tool.name
      return { tool: { ...tool, name }, serverId, ...why }
    })
    if (options.format === "json") return print(JSON.stringify(matches, null, 2))
    if (!matches.length) return print("No tool fits these words.")
    const width = widthOf(matches.map(({ tool }) => tool.name))
    for (const { tool, serverId, ...why } of matches) {
      print(lineOf({ id: tool.name, width, note: serverId, description: tool.description ?? "" }))
      print(whyOf(why))
    }
  })
}

function whyOf({ score, text, vector }: Pick<ToolMatch, "score" | "text" | "vector">): string {
  const place = (name: string, of: { rank: number; score: number } | undefined) =>
    of ? `${name} #${of.rank} (${of.score.toFixed(2)})` : `${name} -`
  return `    ${score.toFixed(3)}  ${place("words", text)}  ${place("meaning", vector)}`
}

function widthOf(names: string[]): number {
  return Math.min(40, Math.max(12, ...names.map(({ length }) => length)))
}

type Line = { id: string; width: number; note: string; description: string }

function lineOf({ id, width, note, description }: Line): string {
  const start = `${id.padEnd(width)} ${note.padEnd(10)} `
  return wrapList(Log.escapeControls(start + firstParagraph(description)), start.length)
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
