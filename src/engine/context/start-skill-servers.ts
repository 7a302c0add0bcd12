// The MCP servers of skills that are in use. They come up with those that are configured, before the next request; those
// of a folder that nobody trusted never do.
import type { Added } from "#ability/mcp/configured/load-servers.ts"
import type * as Skill from "#ability/skill/skill.ts"
import * as Log from "#kernel/process/log.ts"

export async function startSkillServers(skills: readonly Skill.Info[]): Promise<void> {
  const bringing = skills.filter(({ mcp, isTrusted }) => isTrusted && Object.keys(mcp).length > 0)
  if (!bringing.length) return
  const { addServers } = await import("#ability/mcp/if-configured.ts")
  const { entriesOf } = await import("#ability/mcp/configured/load-servers.ts")
  const { InvalidEntry } = await import("#ability/mcp/server/normalize-server.ts")
  const added: Added[] = []
  for (const { mcp, name, folder, isOwn } of bringing)
    try {
      for (const [id, entry] of entriesOf(mcp))
        added.push({ id, entry, source: `skill ${name}`, folder, isOwn })
    } catch (error) {
      if (!(error instanceof InvalidEntry)) throw error
      Log.warn(`the MCP servers of the skill ${name} are not used: ${error.message}`)
    }
  await addServers(added)
}
