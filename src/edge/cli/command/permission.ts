// `vitamin permission …`: lists and revokes what was allowed with "always" in this project.
import { ifConfigured } from "#ability/mcp/if-configured.ts"
import * as Grant from "#ability/permission/grant.ts"
import * as Permission from "#ability/permission/permission.ts"
import { formatRule } from "#ability/permission/rule.ts"
import type { Definition } from "#ability/tool/tool.ts"
import * as ToolRegistry from "#ability/tool/tool-registry.ts"
import { UsageError } from "#edge/cli/process/exit.ts"
import { type FolderOptions, inInstance } from "#edge/cli/process/in-instance.ts"
import { localTime } from "#edge/cli/session/session-lines.ts"
import { wrapList } from "#edge/cli/terminal/wrap-text.ts"
import { Instance } from "#kernel/instance.ts"
import * as Log from "#kernel/process/log.ts"
import { ownCommand } from "#util/own-command.ts"

export async function listGrants(options: FolderOptions & { format: "text" | "json" }): Promise<void> {
  await inInstance(options, async () => {
    const grants = await Grant.list()
    if (options.format === "json") return print(JSON.stringify(grants, null, 2))
    if (!grants.length) return print("Nothing is always allowed in this project.")
    const known = grants.some(({ permission }) => permission === "mcp.call")
      ? await knownTools()
      : new Map<string, Definition>()
    for (const grant of grants) print(wrapList(Log.escapeControls(line(grant, known.get(grant.pattern))), 4))
  })
}

export async function removeGrants(
  options: FolderOptions & { id?: string[] | undefined; all?: boolean | undefined },
): Promise<void> {
  const ids = [...new Set(options.id ?? [])]
  if (ids.length > 0 === (options.all === true))
    throw new UsageError(`Say which: ${ownCommand} permission remove <id>, or --all`)
  await inInstance(options, async () => {
    if (!options.all) await Grant.remove(...ids)
    print(`Removed: ${options.all ? await Grant.removeAll() : ids.join(" ")}`)
  })
}

/** The tools of servers by the names that rules use, from their manifests. Starts no server. */
async function knownTools(): Promise<Map<string, Definition>> {
  await (await ifConfigured())?.list()
  const tools = ToolRegistry.list().filter(({ server }) => server !== undefined)
  return new Map(tools.map((tool) => [tool.permission!({})[0]!.target, tool]))
}

function line(grant: Grant.Info, tool: Definition | undefined): string {
  const fingerprintNow = tool?.permission?.({})[0]?.fingerprint
  const { id, time, agent, scope, sessionId, worktree, expires, fingerprint } = grant
  const why = fingerprint === undefined ? "it does not say what the tool was" : Permission.sayChanged
  const notes = [
    ...(tool ? [`the tool ${tool.id}`] : []),
    ...(scope === "session" ? [`only in ${sessionId}`] : []),
    ...(worktree === Instance.worktree ? [] : [`only in ${worktree}`]),
    ...(expires === undefined ? [] : [`until ${minute(expires)}`]),
    ...(fingerprintNow === undefined || fingerprint === fingerprintNow
      ? []
      : [`${why}, so it will be asked for again`]),
  ]
  const rest = notes.length ? `  (${notes.join(", ")})` : ""
  return `${id}  ${minute(time)}  ${agent.padEnd(12)}  ${formatRule(grant)}${rest}`
}

function minute(time: number): string {
  return Number.isFinite(new Date(time).getTime()) ? localTime(time) : String(time)
}

function print(text: string) {
  process.stdout.write(`${text}\n`)
}
