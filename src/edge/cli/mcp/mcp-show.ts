// `vitamin mcp show`: lists or searches the tools, resources and prompts of a server.

import { findOffers, type Offers } from "#ability/mcp/find-offers.ts"
import { ifConfigured } from "#ability/mcp/if-configured.ts"
import { exitCodes, UsageError } from "#edge/cli/process/exit.ts"
import { type FolderOptions, inInstance } from "#edge/cli/process/in-instance.ts"
import { firstParagraph } from "#edge/cli/terminal/first-paragraph.ts"
import { wrapList } from "#edge/cli/terminal/wrap-text.ts"
import * as Log from "#kernel/process/log.ts"
import { ownCommand } from "#util/own-command.ts"

type Options = FolderOptions & {
  name?: string | undefined
  search?: string | undefined
  format: "text" | "json"
}
type Item = Offers["tools"][number]

const none = `No MCP server is configured here. One is added by "${ownCommand} mcp add", or named in .mcp.json.`

export async function showServer(options: Options): Promise<void> {
  const { name, search, format } = options
  if (name === undefined && search === undefined)
    throw new UsageError("Name a server, or say what to look for with --search.")
  await inInstance(options, async () => {
    const Mcp = await ifConfigured()
    if (!Mcp) throw new UsageError(none)
    // A server that was never started, or failed, has no manifest yet.
    const untried = (await Mcp.usable()).filter(
      (one) => (one.isNew() || one.error() !== undefined) && (name === undefined || one.server.id === name),
    )
    const tried = await Promise.all(untried.map((one) => Mcp.connect(one.server.id)))
    const failed = tried.filter(({ error }) => error !== undefined)
    for (const { id, error } of failed)
      process.stderr.write(`vitamin: MCP server ${Log.escapeControls(`${id}: ${error}`)}\n`)
    if (name !== undefined && failed.length) process.exitCode = exitCodes.failed
    const offers = await findOffers({ server: name, search })
    if (format === "json") return print(JSON.stringify(offers, null, 2))
    const lines = linesOf(offers, name === undefined)
    const isUnknown = name !== undefined && failed.length > 0
    for (const line of lines.length || isUnknown ? lines : ["Nothing."]) print(line)
  })
}

function linesOf({ tools, resources, templates, prompts }: Offers, isOfAll: boolean): string[] {
  const part = <T extends Item>(title: string, items: T[], label: (item: T) => string) => {
    if (!items.length) return []
    const names = items.map((item) => `${isOfAll ? `${item.server} ` : ""}${label(item)}`)
    const width = Math.min(40, Math.max(...names.map(({ length }) => length)))
    return [`${title} (${items.length})`, ...items.map((item, i) => lineOf(item, names[i]!.padEnd(width)))]
  }
  const [first] = [...resources, ...prompts]
  const use = `In a prompt, @${first?.server}:URI attaches a resource and /${first?.server}:NAME key=value uses a prompt.`
  return [
    ...part("tools", tools, ({ name }) => name),
    ...part("resources", resources, ({ uri }) => uri),
    ...part("resource templates", templates, ({ uriTemplate }) => uriTemplate),
    ...part("prompts", prompts, ({ name, arguments: known }) =>
      [name, ...known.map((arg) => (arg.required ? `${arg.name}=…` : `[${arg.name}=…]`))].join(" "),
    ),
    ...(first ? [wrapList(Log.escapeControls(use))] : []),
  ]
}

function lineOf({ description, title, name }: Item, start: string): string {
  const text = firstParagraph(description ?? title ?? name)
  return wrapList(Log.escapeControls(`  ${start}  ${text}`.trimEnd()), start.length + 4)
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
