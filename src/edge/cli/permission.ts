// `vitamin permission …`: what was answered with "always" in this project, and taking it back.
import { ifConfigured } from "#ability/mcp/if-configured.ts"
import * as Grant from "#ability/permission/grant.ts"
import * as Permission from "#ability/permission/permission.ts"
import { formatRule } from "#ability/permission/rule.ts"
import { fingerprintTool } from "#ability/tool/fingerprint-tool.ts"
import { Instance } from "#kernel/instance.ts"
import * as Log from "#kernel/log.ts"
import { UsageError } from "./exit.ts"
import { type FolderOptions, inInstance } from "./in-instance.ts"

export async function listGrants(options: FolderOptions & { format: "text" | "json" }): Promise<void> {
  await inInstance(options, async () => {
    const grants = await Grant.list()
    if (options.format === "json") return print(JSON.stringify(grants, null, 2))
    if (!grants.length) return print("Nothing is allowed for always in this project.")
    const known = grants.some(({ permission }) => permission === "mcp.call") ? await knownTools() : new Map()
    for (const grant of grants) print(Log.escapeControls(line(grant, known.get(grant.pattern))))
  })
}

export async function removeGrants(
  options: FolderOptions & { id?: string[] | undefined; all?: boolean | undefined },
): Promise<void> {
  const ids = [...new Set(options.id ?? [])]
  if (ids.length > 0 === (options.all === true))
    throw new UsageError("Say which: vitamin permission remove <id>, or --all")
  await inInstance(options, async () => {
    if (!options.all) await Grant.remove(...ids)
    print(`Removed: ${options.all ? await Grant.removeAll() : ids.join(" ")}`)
  })
}

/** What the tools of servers last said of themselves, by what a call of them needs. No server is started. */
async function knownTools(): Promise<Map<string, string>> {
  const servers = (await (await ifConfigured())?.usable()) ?? []
  return new Map(
    servers.flatMap(({ server, manifest }) =>
      (manifest()?.tools ?? []).map((tool) => [`${server.id}/${tool.name}`, fingerprintTool(tool)] as const),
    ),
  )
}

function line(grant: Grant.Info, fingerprintNow: string | undefined): string {
  const { id, time, agent, scope, sessionId, worktree, expires, fingerprint } = grant
  const why = fingerprint === undefined ? "it does not say what the tool was" : Permission.sayChanged
  const notes = [
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
  return Number.isFinite(new Date(time).getTime()) ? new Date(time).toISOString().slice(0, 16) : String(time)
}

function print(text: string) {
  process.stdout.write(`${text}\n`)
}
