// `vitamin mcp list` and `vitamin mcp test`: the state of this folder's servers, as last known or after a start.
import { ifConfigured } from "#ability/mcp/if-configured.ts"
import type { Status } from "#ability/mcp/mcp.ts"
import { exitCodes, UsageError } from "#edge/cli/process/exit.ts"
import { type FolderOptions, inInstance } from "#edge/cli/process/in-instance.ts"
import { countOf } from "#edge/cli/terminal/count-of.ts"
import { wrapList } from "#edge/cli/terminal/wrap-text.ts"
import * as Log from "#kernel/process/log.ts"
import { ownCommand } from "#util/own-command.ts"

type Options = FolderOptions & { format: "text" | "json" }

const none = `No MCP server is configured here. Add one: ${ownCommand} mcp add NAME -- COMMAND, or name it in .mcp.json.`

export async function listServers(options: Options): Promise<void> {
  await inInstance(options, async () => {
    const Mcp = await ifConfigured()
    const servers = (await Mcp?.list(undefined, { isQuiet: true })) ?? []
    if (options.format === "json") return print(JSON.stringify(servers, null, 2))
    if (!servers.length) return print(none)
    for (const server of servers) for (const line of linesOf(server)) print(line)
  })
}

/** Fails if a server cannot be used. */
export async function testServers(options: Options & { name?: string | undefined }): Promise<void> {
  await inInstance(options, async () => {
    const Mcp = await ifConfigured()
    if (!Mcp) throw new UsageError(none)
    const known = await Mcp.list(undefined, { isQuiet: true })
    const ids = options.name ? [options.name] : known.map(({ id }) => id)
    const test = async (id: string) =>
      known.find((server) => server.id === id && server.state === "unusable") ?? Mcp.connect(id)
    const tested = await Promise.all(ids.map(test))
    if (options.format === "text") for (const line of tested.flatMap(linesOf)) print(line)
    if (options.format === "json") print(JSON.stringify(tested, null, 2))
    if (tested.some(({ state }) => state !== "connected")) process.exitCode = exitCodes.failed
  })
}

function linesOf(server: Status): string[] {
  const { id, state, source, error, version, protocol, tools, resources, prompts, problems } = server
  const isUntried = state === "idle" && version === undefined
  const offers = isUntried
    ? `not tried yet: ${ownCommand} mcp test ${id}`
    : state === "unusable"
      ? ""
      : [countOf(tools, "tool"), countOf(resources, "resource"), countOf(prompts, "prompt")].join(", ")
  const speaks = version ? ` (${version}, protocol ${protocol})` : ""
  const details = [...(error === undefined ? [] : [error]), ...problems]
  return [
    `${id.padEnd(20)} ${state.padEnd(12)} ${source.padEnd(18)} ${offers}${speaks}`.trimEnd(),
    ...details.map((detail) => `${" ".repeat(21)}${detail}`),
  ].map((line) => wrapList(Log.escapeControls(line), 21))
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
